import CoreData
import Foundation
import Testing

/// Every method of a relationship's set by key reads and changes the relationship as a set of Foundation's is read and
/// changed.
@Suite("Sets by key")
struct LiveSetTests {
  private let context: NSManagedObjectContext
  private let folder: NSManagedObject
  private let items: [NSManagedObject]

  init() throws {
    let folder = NSEntityDescription()
    folder.name = "Folder"
    let item = NSEntityDescription()
    item.name = "Item"
    let ordered = NSRelationshipDescription()
    ordered.name = "ordered"
    ordered.isOrdered = true
    ordered.destinationEntity = item
    let unordered = NSRelationshipDescription()
    unordered.name = "unordered"
    unordered.destinationEntity = item
    folder.properties = [ordered, unordered]
    item.properties = [TestModels.attribute("name", .stringAttributeType)]
    let model = NSManagedObjectModel()
    model.entities = [folder, item]
    let context = try NSManagedObjectContext.opening(nil, model)
    self.context = context
    self.folder = NSEntityDescription.insertNewObject(forEntityName: "Folder", into: context)
    items = (0..<8).map { number in
      let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
      item.setValue("\(7 * number % 8)", forKey: "name")
      return item
    }
  }

  private static func name(_ object: Any) -> String {
    (object as? NSManagedObject)?.value(forKey: "name") as? String ?? ""
  }

  private static func order(_ left: Any, _ right: Any) -> ComparisonResult { name(left).compare(name(right)) }

  private func change(_ set: NSMutableOrderedSet, _ kind: Int, _ random: [Int]) {
    let some = random.map { items[$0] }
    let index = random[0] % max(1, set.count)
    switch kind {
    case 0: set.add(some[0])
    case 1: set.addObjects(from: some)
    case 2: set.insert(some[0], at: random[1] % (set.count + 1))
    case 3 where set.count > 0: set.removeObject(at: index)
    case 4 where set.count > 0 && !set.contains(some[1]): set.replaceObject(at: index, with: some[1])
    case 5 where set.count > 1: set.exchangeObject(at: index, withObjectAt: set.count - 1)
    case 6 where set.count > 1: set.moveObjects(at: IndexSet(integer: index), to: 0)
    case 7: set.remove(some[0])
    case 8: set.removeObjects(in: some)
    case 9:
      // Foundation's own method may not return.
      if type(of: set) == NSMutableOrderedSet.self { set.remove(some[0]) } else {
        set.intersect(NSOrderedSet(array: items.filter { $0 != some[0] }))
      }
    case 10: set.minus(NSOrderedSet(array: some))
    case 11: set.union(NSOrderedSet(array: some))
    case 12: set.minusSet(Set(some))
    case 13: set.intersectSet(Set(items.dropLast()))
    case 14: set.sort(comparator: Self.order)
    case 15: set.sort(using: [NSSortDescriptor(key: "name", ascending: false)])
    case 16 where set.count > 2: set.removeObjects(in: NSRange(location: 1, length: 1))
    case 17 where set.count > 2: set.sortRange(NSRange(location: 0, length: 2), usingComparator: Self.order)
    case 18 where set.count > 2: set.removeObjects(at: IndexSet([0, 2]))
    case 19 where random[1] == 0: set.removeAllObjects()
    default: break
    }
  }

  @Test("Random changes of an ordered one", .serialized, arguments: 0..<12)
  func ordered(seed: Int) throws {
    let plain = NSMutableOrderedSet()
    let live = folder.mutableOrderedSetValue(forKey: "ordered")
    for step in 0..<60 {
      let random = [0, 1, 2].map { _ in Int.random(in: 0..<8) }
      let kind = (seed * 7 + step + random[2]) % 20
      change(plain, kind, random)
      change(live, kind, random)
      let expected = plain.array.map(Self.name)
      let reading = folder.value(forKey: "ordered") as? NSOrderedSet
      try #require(reading?.array.map(Self.name) == expected, "operation \(kind)")
      #expect(live.array.map(Self.name) == expected && live.map(Self.name) == expected && live.count == plain.count)
      #expect(live.reversed.array.map(Self.name) == expected.reversed() && live.set.count == plain.set.count)
      #expect(live.firstObject.map(Self.name) == expected.first && live.lastObject.map(Self.name) == expected.last)
      #expect(live.isEqual(to: plain) && live.index(of: items[0]) == plain.index(of: items[0]))
      #expect(live.isSubset(of: Set(items)) && live.intersects(NSOrderedSet(array: items)) == !expected.isEmpty)
      #expect(live.sortedArray(comparator: Self.order).map(Self.name) == expected.sorted())
      var enumerated: [String] = []
      live.enumerateObjects { object, _, _ in enumerated.append(Self.name(object)) }
      #expect(enumerated == expected && live.objectEnumerator().map(Self.name) == expected)
      #expect(live.index { object, _, _ in object as? NSManagedObject == items[1] } == plain.index(of: items[1]))
    }
  }

  private func change(_ set: NSMutableSet, _ kind: Int, _ random: [Int]) {
    let some = random.map { items[$0] }
    switch kind {
    case 0: set.add(some[0])
    case 1: set.addObjects(from: some)
    case 2: set.remove(some[0])
    case 3: set.union(Set(some))
    case 4: set.minus(Set(some))
    case 5: set.intersect(Set(items.dropFirst()))
    case 6: set.setSet(Set(some))
    case 7 where random[0] == 0: set.removeAllObjects()
    default: break
    }
  }

  @Test("Random changes of an unordered one", .serialized, arguments: 0..<12)
  func unordered(seed: Int) throws {
    let plain = NSMutableSet()
    let live = folder.mutableSetValue(forKey: "unordered")
    for step in 0..<40 {
      let random = [0, 1, 2].map { _ in Int.random(in: 0..<8) }
      let kind = (seed + step + random[2]) % 8
      change(plain, kind, random)
      change(live, kind, random)
      let expected = Set(plain.map(Self.name))
      try #require(Set((folder.value(forKey: "unordered") as? NSSet)?.map(Self.name) ?? []) == expected, "\(kind)")
      #expect(Set(live.map(Self.name)) == expected && Set(live.allObjects.map(Self.name)) == expected)
      #expect(live.count == plain.count && (live.anyObject() == nil) == expected.isEmpty)
      #expect(live.isEqual(plain) && live.isEqual(to: Set(items)) == plain.isEqual(to: Set(items)))
      #expect(live.intersects(Set(items)) == !expected.isEmpty && live.isSubset(of: Set(items)))
      #expect(live.contains(items[3]) == plain.contains(items[3]))
      #expect(
        live.sortedArray(using: [NSSortDescriptor(key: "name", ascending: true)]).map(Self.name) == expected.sorted())
      var enumerated: Set<String> = []
      live.enumerateObjects { object, _ in enumerated.insert(Self.name(object)) }
      #expect(enumerated == expected)
      #expect(live.objects { object, _ in Self.name(object) > "3" }.count == expected.filter { $0 > "3" }.count)
      #expect((live.copy() as? Set<NSManagedObject>)?.count == expected.count)
    }
  }
}
