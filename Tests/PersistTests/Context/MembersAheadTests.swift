import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Members read ahead for other owners")
struct MembersAheadTests {
  private static let owners = 160

  private struct Stack {
    let stack: TestStack
    let context: ManagedObjectContext
    let people: [ManagedObject]

    /// The number of reads of the store in `body`.
    func reads(_ body: () throws -> Void) rethrows -> Int {
      let before = stack.store.calls
      try body()
      return stack.store.calls - before
    }

    /// Iterates over the members of so many owners that those of others are read ahead.
    func walk() throws { for person in people.prefix(8) { _ = try person.names("pets") } }

    /// The owner after those.
    var next: ManagedObject { people[8] }

    func other() -> ManagedObjectContext { stack.context() }
  }

  /// Runs `body` with people who have as many pets as their number modulo 7.
  private func withOwners(_ body: (Stack) throws -> Void) throws {
    try withStack(SampleModels.pets) { stack in
      let writer = stack.context()
      try makePeopleWithPets(Self.owners, in: writer)
      try writer.save()
      let context = stack.context()
      let ids = try context.fetchObjectIDs(FetchRequest("Person"))
      let sorted = ids.sorted { ($0.primaryKey ?? 0) < ($1.primaryKey ?? 0) }
      try body(Stack(stack: stack, context: context, people: sorted.map(context.object(with:))))
    }
  }

  @Test("The members of owners that are iterated one after another are read in groups")
  func groups() throws {
    try withOwners { stack in
      var found: [[String]] = []
      let reads = try stack.reads { found = try stack.people.map { try $0.names("pets") } }
      #expect(found == (0..<Self.owners).map(petNames))
      // A tenth on an idle machine; more if it pauses the test for longer than members may be used.
      #expect(reads < Self.owners / 2)
    }
  }

  @Test("A walk backwards finds the same members")
  func backwards() throws {
    try withOwners { stack in
      for number in (0..<Self.owners).reversed() {
        try #expect(stack.people[number].names("pets") == petNames(ofPerson: number))
      }
    }
  }

  @Test("Unsaved and saved changes of members count, whatever was read ahead")
  func changes() throws {
    try withOwners { stack in
      try stack.walk()
      let new = try stack.context.make("Pet", ["name": "new"])
      new["owner"] = stack.next
      try #expect(stack.next.names("pets") == ["new", "pet 8 0"])
      let moved = try #require(stack.people[9].many("pets").first)
      moved["owner"] = nil
      try #expect(stack.people[9].names("pets") == ["pet 9 1"])
      try stack.context.save()
      try #expect(stack.people[10].names("pets") == petNames(ofPerson: 10))
    }
    try withOwners { stack in
      try stack.walk()
      let other = stack.other()
      try other.make("Pet", ["name": "others'", "owner": other.existingObject(with: stack.next.objectID)])
      try other.save()
      try #expect(stack.next.names("pets") == ["others'", "pet 8 0"])
    }
    try withOwners { stack in
      try stack.walk()
      let other = stack.other()
      try other.delete(other.named("Pet", "pet 9 0"))
      try other.save()
      try #expect(stack.people[9].names("pets") == ["pet 9 1"])
    }
  }

  @Test("An owner with more members than are read at once gets them all, in order")
  func manyMembers() throws {
    for count in [99, 100, 101, 102, 399, 400, 401, 1000] {
      try withStack(SampleModels.shapes) { stack in
        let writer = stack.context()
        for number in 0..<20 {
          let parent = try writer.make("Node", ["name": "parent \(number)"])
          for child in 0..<(number.isMultiple(of: 6) ? count : 3) {
            try writer.make("Node", ["name": "\(number).\(child)", "parent": parent])
          }
        }
        try writer.save()
        let context = stack.context()
        let parents = try context.fetch(FetchRequest("Node")).filter { $0.one("parent") == nil }
        for parent in parents {
          let number = try #require(Int((parent["name"] as? String ?? "").dropFirst(7)))
          let size = number.isMultiple(of: 6) ? count : 3
          try #expect(parent.names("children") == (0..<size).map { "\(number).\($0)" })
        }
      }
    }
  }

  @Test("Many-to-many members are read in groups too")
  func manyToMany() throws {
    try withStack(SampleModels.shapes) { stack in
      let writer = stack.context()
      let tags = try (0..<10).map { try writer.make("Tag", ["label": "tag \($0)"]) }
      for number in 0..<100 {
        let node = try writer.make("Node", ["name": "node \(number)"])
        try node.many("tags").replace(with: (0..<number % 4).map { tags[(number + $0) % 10] })
      }
      try writer.save()
      let context = stack.context()
      for node in try context.fetch(FetchRequest("Node")) {
        let number = try #require(Int((node["name"] as? String ?? "").dropFirst(5)))
        let labels = (0..<number % 4).map { "tag \((number + $0) % 10)" }
        try #expect(node.names("tags", by: "label") == labels.sorted())
      }
    }
  }
}
