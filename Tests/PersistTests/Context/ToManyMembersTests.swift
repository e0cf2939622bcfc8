import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The forms of known members, compared with each other and with a plain list.
@Suite("The members of a to-many relationship")
struct ToManyMembersTests {
  private static func member(_ number: Int) -> ManagedObjectID {
    ManagedObjectID(entityName: "Book", storeIdentifier: "S", key: .permanent(Int64(number)))
  }

  private static func members(_ numbers: [Int]) -> [ManagedObjectID] { numbers.map(member) }

  @Test("Reading members for iteration creates no sets; a lookup creates them once, unless they are sorted")
  func forms() {
    for (isOrdered, order) in [(false, [1, 2, 5]), (false, [2, 5, 1]), (true, [1, 2, 5])] {
      let isSorted = !isOrdered && order == [1, 2, 5]
      let members = ToManyMembers(isOrdered: isOrdered)
      #expect(!members.areKnown && !members.isHashed && members.list == nil && members.current == nil)
      #expect(members.contains(Self.member(1)) == nil && members.count == nil)
      members.load(.identifiers(Self.members(order)))
      #expect(members.areKnown && !members.isHashed)
      #expect(members.list?.identifiers == Self.members(order) && members.count == 3)
      #expect(!members.isHashed && members.isSearchable == isSorted)
      #expect(members.contains(Self.member(2)) == true && members.contains(Self.member(3)) == false)
      #expect(members.isHashed == !isSorted && members.isSearchable)
      #expect(members.current?.contains(Self.member(2)) == true)
      #expect(members.isHashed)
      members.forgetStored()
      #expect(!members.areKnown)
    }
  }

  @Test("Members with keys of other entities or stores, or with temporary ones, aren't found among sorted ones")
  func otherIdentifiers() {
    let members = ToManyMembers(isOrdered: false)
    members.load(.identifiers(Self.members([1, 2, 5])))
    for other in [
      ManagedObjectID(entityName: "Author", storeIdentifier: "S", key: .permanent(2)),
      ManagedObjectID(entityName: "Book", storeIdentifier: "T", key: .permanent(2)),
      ManagedObjectID(entityName: "Book", storeIdentifier: "S", key: .temporary(2)),
      ManagedObjectID(entityName: "Book", storeIdentifier: "S", key: .permanent(9)),
    ] {
      #expect(members.contains(other) == false)
    }
    #expect(!members.isHashed)
    let unsaved = ManagedObjectID(entityName: "Book", storeIdentifier: "", key: .temporary(7))
    for list in [Self.members([1, 2]) + [unsaved], [unsaved] + Self.members([1, 2])] {
      members.load(.identifiers(list))
      #expect(!members.isSearchable && members.contains(unsaved) == true)
    }
  }

  @Test(
    "Sorted members do what sets do, whatever is changed, saved, discarded and copied in whichever order",
    .law("sorted-members", short: 400, long: 20_000))
  func sorted() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let stored = (1...20).filter { _ in Bool.random(using: &random) }
      let isContradicted = Int.random(in: 0..<4, using: &random) == 0
      var isVisited = false
      // The sets of one exist from the start.
      let hashed = ToManyMembers(isOrdered: false, base: OrderedSet(Self.members(stored)))
      var searched = ToManyMembers(isOrdered: false)
      searched.load(.identifiers(Self.members(stored)))
      var nextKey = 21
      var new: [ManagedObjectID: ManagedObjectID] = [:]
      for step in 0..<Int.random(in: 1...25, using: &random) {
        let all = Self.members(Array(1..<nextKey)) + Array(new.keys)
        let place: Comment = "at step \(step) of seed \(seed)"
        let member = all[Int.random(in: 0..<all.count, using: &random)]
        let isMember = hashed.contains(member) == true
        let both = [hashed, searched]
        switch Int.random(in: 0..<10, using: &random) {
        case 0...2:
          if isMember, !isContradicted { continue }
          for members in both { members.insert(member) }
        case 3...5:
          if !isMember, !isContradicted { continue }
          for members in both { members.remove(member) }
        case 6:
          let unsaved = ManagedObjectID(
            entityName: "Book", storeIdentifier: "", key: .temporary(UInt64(nextKey)))
          new[unsaved] = Self.member(nextKey)
          nextKey += 1
          for members in both { members.insert(unsaved) }
        case 7:
          // Members that are saved to a parent context get their keys when that is saved.
          let isSavedToParent = Bool.random(using: &random)
          for members in both { members.accept { isSavedToParent ? $0 : new[$0] ?? $0 } }
          if !isSavedToParent || Bool.random(using: &random) {
            for members in both { members.replaceIdentifiers { new[$0] ?? $0 } }
            new = [:]
          }
        case 8:
          if Bool.random(using: &random) {
            for members in both { members.revert() }
          } else {
            for members in both { members.drop(member) }
          }
        default:
          // The original changes alone from now on.
          let former = searched
          searched = ToManyMembers(copying: former)
          former.accept { new[$0] ?? $0 }
          former.remove(Self.member(1))
          former.accept { $0 }
        }
        for id in all + Array(new.keys) { #expect(searched.contains(id) == hashed.contains(id), place) }
        #expect(searched.count == hashed.current?.count, place)
        #expect(searched.added == hashed.added && searched.removed == hashed.removed, place)
        #expect(Set(searched.mentioned) == Set(hashed.mentioned), place)
        if Int.random(in: 0..<30, using: &random) == 0 {
          isVisited = true
          #expect(Set(searched.list?.identifiers ?? []) == Set(hashed.current ?? []), place)
        }
      }
      #expect(isContradicted || isVisited || !searched.isHashed, "seed \(seed)")
      #expect(Set(searched.current ?? []) == Set(hashed.current ?? []), "seed \(seed)")
      #expect(Set(searched.base ?? []) == Set(hashed.base ?? []), "seed \(seed)")
    }
  }

  @Test("Differences that exist when the members are read are applied; those that the store already has are dropped")
  func differences() {
    let members = ToManyMembers(isOrdered: true)
    members.insert(Self.member(3))
    members.insert(Self.member(4))
    members.remove(Self.member(1))
    members.remove(Self.member(9))
    members.load(.identifiers(Self.members([1, 2, 3])))
    #expect(members.current?.elements == Self.members([2, 3, 4]))
    #expect(members.added.elements == Self.members([4]))
    #expect(members.removed.elements == Self.members([1]))
  }

  @Test("A new member that was read again under its stored identifier before it is accepted is there once",
    arguments: [false, true])
  func readBeforeAccepted(_ isOrdered: Bool) {
    let members = ToManyMembers(isOrdered: isOrdered)
    let new = ManagedObjectID(entityName: "Book", storeIdentifier: "S", key: .temporary(1))
    members.insert(new)
    members.load(.identifiers(Self.members([1, 2, 3])))
    members.accept { $0 == new ? Self.member(3) : $0 }
    #expect(members.base?.elements == Self.members([1, 2, 3]))
    #expect(members.current?.elements == Self.members([1, 2, 3]))
  }

  @Test(
    "Saving new and removed members takes the same work, however many others there are", arguments: [false, true])
  func savedChanges(hashes: Bool) {
    func work(_ count: Int) -> Duration {
      let members = ToManyMembers(isOrdered: false)
      members.load(.identifiers(Self.members(Array(1...count))))
      if hashes { _ = members.current }
      members.remove(Self.member(1))
      members.accept { $0 }
      let work = ThreadWork.of {
        for number in 1...40 {
          let new = ManagedObjectID(entityName: "Book", storeIdentifier: "S", key: .temporary(UInt64(number)))
          members.insert(new)
          members.remove(Self.member(number + 1))
          members.accept { $0 == new ? Self.member(count + number) : $0 }
        }
      }
      let expected = Set(Self.members(Array(42...count + 40)))
      #expect(members.base.map { Set($0.elements) } == expected)
      #expect(members.current.map { Set($0.elements) } == expected)
      return work
    }
    let (few, many) = (work(400), work(40_000))
    #expect(many <= few * 8 + .milliseconds(5), "\(few) and \(many)")
  }

  @Test(
    "The members don't depend on when they were read: the stored ones minus the removed plus the added",
    .law("to-many-members", short: 400, long: 20_000))
  func law() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let isOrdered = Bool.random(using: &random)
      var stored = Array(1...Int.random(in: 1...8, using: &random))
      if Bool.random(using: &random) { stored.shuffle(using: &random) }
      var now = stored
      let readFirst = ToManyMembers(isOrdered: isOrdered)
      readFirst.load(.identifiers(Self.members(stored)))
      var readLast = ToManyMembers(isOrdered: isOrdered)
      for step in 0..<Int.random(in: 1...20, using: &random) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0...2:
          // A removed member that is added again has its old position only if the members are read.
          let new = isOrdered ? 100 + step : Int.random(in: 1...12, using: &random)
          guard !now.contains(new) else { continue }
          now.append(new)
          for members in [readFirst, readLast] { members.insert(Self.member(new)) }
        case 3...4:
          guard let old = now.randomElement(using: &random) else { continue }
          now.removeAll { $0 == old }
          for members in [readFirst, readLast] { members.remove(Self.member(old)) }
        case 5:
          now = stored
          for members in [readFirst, readLast] { members.revert() }
        case 6:
          readLast = ToManyMembers(copying: readLast)
          if Bool.random(using: &random) { _ = readFirst.current }
        default:
          stored = now
          for members in [readFirst, readLast] { members.accept { $0 } }
        }
        #expect(readFirst.hasChanges == readLast.hasChanges, "at step \(step) of seed \(seed)")
      }
      readLast.load(.identifiers(Self.members(stored)))
      for members in [readFirst, readLast] {
        let expected = Self.members(now)
        #expect(Set(members.list?.identifiers ?? []) == Set(expected), "seed \(seed)")
        #expect(Set(members.base ?? []) == Set(Self.members(stored)), "seed \(seed)")
        #expect(members.added.allSatisfy { members.base?.contains($0) != true }, "seed \(seed)")
        #expect(members.removed.allSatisfy { members.base?.contains($0) == true }, "seed \(seed)")
        if isOrdered { #expect(members.current?.elements == expected, "seed \(seed)") }
      }
    }
  }

  @Test(
    "A new order is detected unless it is the stored one, minus removed members, with added ones at its end",
    .law("to-many-order", short: 400, long: 20_000))
  func order() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let stored = Array(1...Int.random(in: 1...6, using: &random))
      let members = ToManyMembers(isOrdered: true)
      members.load(.identifiers(Self.members(stored)))
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        var wanted = (members.current ?? []).elements
        if Bool.random(using: &random) { wanted.shuffle(using: &random) }
        if Bool.random(using: &random) { wanted.removeLast(Int.random(in: 0...wanted.count, using: &random)) }
        if Bool.random(using: &random) { wanted.append(Self.member(Int.random(in: 100...999, using: &random))) }
        members.replace(with: OrderedSet(wanted))
        #expect(members.current?.elements == Array(OrderedSet(wanted)), "seed \(seed)")
        let plain = OrderedSet(Self.members(stored)).subtracting(members.removed).union(members.added)
        #expect(members.isReordered == (members.current?.elements != plain.elements), "seed \(seed)")
      }
      members.revert()
      #expect(!members.hasChanges && members.current?.elements == Self.members(stored), "seed \(seed)")
    }
  }
}
