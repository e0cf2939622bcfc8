import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Identity map")
struct IdentityMapTests {
  @Test("Entries are added and removed as in a dictionary, through growth and shrinking")
  func likeDictionary() throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var random = SystemRandomNumberGenerator()
    var map = IdentityMap()
    var expected: [Int64: ManagedObject] = [:]
    for round in 0..<20_000 {
      let isGrowing = (round / 5000).isMultiple(of: 2)
      // Keys that share their low bits, as chunks of a table do.
      let key = Int64.random(in: 0..<4000, using: &random) << 12
      if expected[key] == nil, isGrowing || round.isMultiple(of: 3) {
        let object = ManagedObject(entity: entity, insertInto: nil)
        map.insert(object, key: key)
        expected[key] = object
      } else {
        map.remove(key)
        expected[key] = nil
      }
      if round.isMultiple(of: 97) {
        let isSame = expected.allSatisfy { map[$0.key] === $0.value } && map.count == expected.count
        #expect(isSame)
      }
    }
    let found = Set(map.objects)
    #expect(found == Set(expected.values))
    #expect(map[-1] == nil)
  }

  @Test("Keys that differ only above their lower 32 bits are different keys, also after small ones", arguments: 0..<8)
  func wideKeys(seed: UInt64) throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var random = SeededRandom(seed: seed)
    var map = IdentityMap()
    var live: [Int64: ManagedObject] = [:]
    for round in 0..<4000 {
      // The first keys are small, as most keys are.
      let upperHalf = round < 500 ? 0 : Int64([0, 0, 1, 2, -1].randomElement(using: &random) ?? 0)
      let key = upperHalf << 32 | Int64.random(in: 0..<400, using: &random)
      #expect(map[key] === live[key])
      if live[key] == nil {
        let object = ManagedObject(entity: entity, insertInto: nil)
        map.insert(object, key: key)
        live[key] = object
      } else if Bool.random(using: &random) {
        map.remove(key)
        live[key] = nil
      }
    }
    #expect(map.count == live.count && live.allSatisfy { map[$0.key] === $0.value })
    #expect(Set(map.objects) == Set(live.values))
  }

  @Test("Consecutive keys removed in any order leave the others, and make room for new ones", arguments: 0..<6)
  func consecutive(seed: UInt64) throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var random = SeededRandom(seed: seed)
    var map = IdentityMap()
    var live: [Int64: ManagedObject] = [:]
    var next: Int64 = Bool.random(using: &random) ? -3000 : 1
    for _ in 0..<12 {
      let more = Int.random(in: 0..<3000, using: &random)
      map.reserve(more)
      for _ in 0..<more {
        let object = ManagedObject(entity: entity, insertInto: nil)
        map.insert(object, key: next)
        live[next] = object
        next += 1
      }
      var leaving = live.keys.sorted()
      switch Int.random(in: 0..<3, using: &random) {
      case 0: leaving.reverse()
      case 1: leaving.shuffle(using: &random)
      default: break
      }
      for key in leaving.prefix(Int.random(in: 0...leaving.count, using: &random)) {
        map.remove(key)
        map.remove(key)
        live[key] = nil
      }
      let isSame = live.allSatisfy { map[$0.key] === $0.value } && map.count == live.count
      #expect(isSame)
      #expect(leaving.allSatisfy { live[$0] != nil || map[$0] == nil })
      #expect(Set(map.objects) == Set(live.values))
    }
  }

  @Test("A map that many objects pass through, few at a time, stays small")
  func passage() throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    let object = ManagedObject(entity: entity, insertInto: nil)
    var map = IdentityMap()
    var greatest = 0
    for key in 0..<Int64(300_000) {
      map.insert(object, key: key)
      if key >= 1000 { map.remove(key - 1000) }
      greatest = max(greatest, map.capacity)
    }
    #expect(map.count == 1000)
    #expect(greatest <= 4096)
  }

  @Test("A map shrinks seldom, and keeps some space for each object and a little more", arguments: 0..<3)
  func shrinking(order: Int) throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var random = SeededRandom(seed: 11)
    var map = IdentityMap()
    let object = ManagedObject(entity: entity, insertInto: nil)
    for key in 0..<Int64(200_000) { map.insert(object, key: key) }
    var keys = Array(0..<Int64(200_000))
    if order == 1 { keys.reverse() }
    if order == 2 { keys.shuffle(using: &random) }
    var (capacity, changeCount, isWithinBounds) = (map.capacity, 0, true)
    for (index, key) in keys.enumerated() {
      map.remove(key)
      if map.capacity > max(4096, (keys.count - index - 1) * 32) { isWithinBounds = false }
      if map.capacity != capacity { changeCount += 1 }
      capacity = map.capacity
    }
    #expect(isWithinBounds)
    #expect(map.count == 0 && capacity <= 4096 && changeCount <= 4)
  }

  @Test("Searches for new keys stay short in a map through which batches pass", arguments: [100, 1000, 10_000])
  func batches(size: Int) throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var map = IdentityMap()
    let object = ManagedObject(entity: entity, insertInto: nil)
    for start in stride(from: 0, to: Int64(20 * size), by: size) {
      let keys = start..<start + Int64(size)
      map.reserve(size)
      let length = keys.reduce(0) { $0 + map.searchLength(of: $1) }
      #expect(length <= 2 * size)
      for key in keys { map.insert(object, key: key) }
      for key in keys { map.remove(key) }
    }
    #expect(map.count == 0)
  }

  @Test("Searches stay short while objects are removed in the map's order, by key or at random", arguments: 0..<4)
  func searches(order: Int) throws {
    let entity = try ManagedObjectModel(SampleModels.people).entity(named: "Person")
    var random = SeededRandom(seed: 7)
    var map = IdentityMap()
    let objects = (0..<30_000).map { _ in ManagedObject(entity: entity, insertInto: nil) }
    for (index, object) in objects.enumerated() {
      object.key = Int64(index)
      map.insert(object, key: object.key)
    }
    var keys = map.objects.map(\.key)
    switch order {
    case 0: break
    case 1: keys.reverse()
    case 2: keys.sort()
    default: keys.shuffle(using: &random)
    }
    for (index, key) in keys.enumerated() {
      map.remove(key)
      guard (index + 1).isMultiple(of: 500) else { continue }
      let rest = keys[(index + 1)...]
      let length = rest.reduce(0) { $0 + map.searchLength(of: $1) }
      #expect(length <= 8 * rest.count)
    }
    #expect(map.count == 0)
  }
}
