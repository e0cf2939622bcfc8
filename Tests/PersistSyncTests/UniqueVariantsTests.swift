import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistCore
@testable import PersistSync

@Suite("Synchronization: unique values over several references")
struct UniqueVariantsTests {
  private static func model() throws -> ManagedObjectModel {
    let ends = ["Person", "Group"].map { name in
      EntityDescription(
        name, attributes: [.init("name", .string)],
        relationships: [.init("members", toMany: "Member", inverse: name.lowercased())])
    }
    let member = EntityDescription(
      "Member", attributes: [.init("role", .string)],
      relationships: [
        .init("person", to: "Person", inverse: "members"), .init("group", to: "Group", inverse: "members"),
      ], uniquenessConstraints: [["person", "group"]])
    return try ManagedObjectModel(ModelDescription(entities: ends + [member]))
  }

  private static let replica = UUID(uuidString: "00000000-0000-4000-8000-000000000001") ?? UUID()

  /// A person and a group of which others are the same, and members that name each of these once.
  private func sets(_ size: Int, _ tag: ModelTag) -> [ChangeSet] {
    func identity(_ entity: String, _ number: Int) -> Identity {
      Identity(store: "store", entity: entity, key: Int64(number), created: 1)
    }
    func life(_ identity: Identity, _ entity: String) -> ChangeSet.Fact {
      .init(key: .life(identity), value: Life(count: 1, model: tag, entity: entity).bytes)
    }
    func value(_ object: Identity, _ name: String, _ content: Data, _ time: Int) -> ChangeSet.Fact {
      let stamp = Stamp(time: UInt64(1000 + time), replica: Self.replica)
      let property = PropertyName(model: tag, entity: "Member", name: name)
      return .init(
        key: .value(object, property), value: Register(life: 1, stamp: stamp, content: content).bytes)
    }
    var facts: [[ChangeSet.Fact]] = []
    for number in 0..<size {
      var set: [ChangeSet.Fact] = []
      for entity in ["Person", "Group"] {
        set.append(life(identity(entity, number), entity))
        if number > 0 {
          set.append(.init(key: .union(identity(entity, 0), identity(entity, number)), value: Register.present))
        }
      }
      let member = identity("Member", number)
      set.append(life(member, "Member"))
      set.append(value(member, "person", PortableValue.bytes(referringTo: identity("Person", number), life: 1), number))
      let other = identity("Group", size - 1 - number)
      set.append(value(member, "group", PortableValue.bytes(referringTo: other, life: 1), number))
      set.append(value(member, "role", PortableValue.bytes(.string("role \(number)")), number))
      facts.append(set)
    }
    return facts.enumerated().map {
      ChangeSet(SyncEntry(replica: Self.replica, number: Int64($0.offset + 1)), $0.element)
    }
  }

  /// The contents of a store that applies sets in groups, and the statements that this takes.
  private func outcome(_ groups: [[ChangeSet]]) throws -> (contents: [String], statements: Int) {
    try withTemporaryFolder { folder in
      let device = try Device(folder.appendingPathComponent("a.sqlite"), Self.model(), identifiedBy: [:])
      let name = try #require(device.coordinator.persistentStores.first?.identifier)
      let store = try #require(device.coordinator.storesWithHistory([name]).first?.store as? SQLiteStore)
      let before = store.pool.counts.executed
      for group in groups { _ = try device.replica.work.apply(group) }
      let statements = store.pool.counts.executed - before
      #expect(try device.outdatedRows().isEmpty)
      let contents = try device.contents()
      try device.close()
      return (contents, statements)
    }
  }

  @Test("Members of many equal objects become one in every order, and their number isn't multiplied")
  func variants() throws {
    let tag = ModelTag(digest: try Self.model().description.digest)
    var statements: [Int: Int] = [:]
    for size in [12, 48] {
      #expect(size * size > Uniqueness.maximumVariants)
      let sets = sets(size, tag)
      let together = try outcome([sets])
      #expect(together.contents.count == 3)
      #expect(together.contents.contains { $0.contains("role=role \(size - 1)") })
      #expect(try outcome([Array(sets.reversed())]).contents == together.contents)
      let halves = [Array(sets.dropFirst(size / 2)), Array(sets.prefix(size / 2))]
      #expect(try outcome(halves).contents == together.contents)
      statements[size] = together.statements
    }
    // Four times the objects of each kind, and sixteen times the combinations.
    let (small, large) = (try #require(statements[12]), try #require(statements[48]))
    #expect(large <= 8 * small, "\(statements)")
  }
}
