import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Uniqueness constraints that are kept in place")
struct UniquenessTests {
  /// A model in which a constraint over an inherited attribute applies to the entity numbers 2 and 3: `A` and `A1`, or
  /// `A` and `B`.
  private static func codes(bBelowA isMoved: Bool) throws -> ManagedObjectModel {
    try model(
      EntityDescription("P", attributes: [AttributeDescription("code", .string)]),
      EntityDescription("A", parent: "P", uniquenessConstraints: [["code"]]),
      EntityDescription("A1", parent: isMoved ? "P" : "A"), EntityDescription("B", parent: isMoved ? "A" : "P"))
  }

  @Test("A constraint that applies to other entities under the same numbers allows what it allows afterward")
  func otherEntities() throws {
    try MadeStore.migrate(
      Self.codes(bBelowA: false), Self.codes(bBelowA: true),
      filling: "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (1, 4, 1, 'x'), (2, 3, 1, 'x'), (3, 2, 1, 'y')"
    ) { url in
      try #expect(
        MadeStore.rows("SELECT Z_PK, Z_ENT, ZCODE FROM ZP ORDER BY Z_PK", at: url)
          == [["1", "3", "x"], ["2", "4", "x"], ["3", "2", "y"]])
    }
  }

  @Test("Rows that a constraint doesn't allow under its new entities are found before the migration")
  func conflict() throws {
    let registry = ModelRegistry(versions: [
      ModelVersion(name: "1", model: try Self.codes(bBelowA: false)),
      ModelVersion(name: "2", model: try Self.codes(bBelowA: true)),
    ])
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.run(
        "INSERT INTO ZP (Z_PK, Z_ENT, Z_OPT, ZCODE) VALUES (1, 4, 1, 'x'), (2, 2, 1, 'x')", at: url)
      let plan = try MigrationPlan(storeAt: url, to: registry.versions[1], registry: registry)
      #expect(plan.blockers.map(\.what) == ["Rows of A with the same code as another, which must be unique: 1."])
    }
  }

  @Test("Unique values that all change may equal others' former values")
  func changedValues() throws {
    func item(isExternal: Bool) throws -> ManagedObjectModel {
      try model(
        EntityDescription(
          "Item", attributes: [AttributeDescription("a", .binary, allowsExternalStorage: isExternal)],
          uniquenessConstraints: [["a"]]))
    }
    try MadeStore.migrate(
      item(isExternal: false), item(isExternal: true),
      filling: "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, x'02'), (2, 1, 1, x'0102')"
    ) { url in
      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      try #expect(
        store.rows("SELECT ZA FROM ZITEM ORDER BY Z_PK").map { $0.values[0] }
          == [.blob(Data([1, 2])), .blob(Data([1, 1, 2]))])
    }
  }
}
