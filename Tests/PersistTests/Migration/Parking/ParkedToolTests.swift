import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("Proofs and checks of what is parked", .aboutFiles("parked values"))
struct ParkedToolTests {
  private static func registry() throws -> ModelRegistry {
    let versions: [[AttributeDescription]] = [
      [], [.init("color", .string), .init("size", .int32), .init("photo", .binary)],
      [.init("size", .int32), .init("weight", .double)],
    ]
    let tag = EntityDescription(
      "Tag", attributes: [.init("title", .string)],
      relationships: [.init("notes", toMany: "Note", inverse: "tags")])
    return ModelRegistry(
      versions: try versions.enumerated().map { number, attributes in
        let note = EntityDescription(
          "Note", attributes: [.init("name", .string)] + attributes,
          relationships: number == 1 ? [.init("tags", toMany: "Tag", inverse: "notes")] : [])
        let model = try ManagedObjectModel(ModelDescription(entities: [note] + (number == 1 ? [tag] : [])))
        return ModelVersion(name: "\(number + 1)", model: model)
      })
  }

  /// A store of the first version, in which values, objects and pairs of the second one are parked.
  ///
  /// - Parameter parking: With `always`, values of attributes remain in columns.
  private func withParked(
    _ parking: MigrationParking = .olderVersions, _ body: (URL, ModelRegistry) throws -> Void
  ) throws {
    let registry = try Self.registry()
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: registry.versions[1].model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for number in 0..<4 {
        let tag = try context.make("Tag", ["title": "t\(number)"])
        let note = try context.make("Note", ["name": "n\(number)", "color": "c\(number)", "size": number])
        note["tags"] = Set([tag])
        note["photo"] = Data(repeating: UInt8(number), count: 200)
      }
      try context.save()
      try coordinator.remove(store)
      var migrator = AutomaticMigrator()
      migrator.parking = parking
      let report = try migrator.migrate(storeAt: url, to: registry.versions[0], registry: registry)
      try #require(report.parked > 12)
      try body(url, registry)
    }
  }

  // MARK: Proofs

  @Test(
    "A proof passes where parked values remain parked or come back",
    arguments: [MigrationParking.olderVersions, .always])
  func proof(parking: MigrationParking) throws {
    try withParked(parking) { url, registry in
      let report = try AutomaticMigrator().provingInPlace().migrate(
        storeAt: url, to: registry.versions[2], registry: registry)
      #expect(report.proof?.objects == 4 && report.restored == 4)
      let back = try AutomaticMigrator().provingInPlace().migrate(
        storeAt: url, to: registry.versions[1], registry: registry)
      #expect(back.proof?.objects == 8)
    }
  }

  @Test(
    "A parked value, object or pair that is lost in place prevents the migration",
    arguments: [
      ("DELETE FROM PERSIST_PARKED_VALUES WHERE VALUE = 'c2'", "1 of the values of Note.color"),
      ("UPDATE PERSIST_PARKED_VALUES SET VALUE = 'x' WHERE VALUE IN ('c1', 'c2')", "2 of the values of Note.color"),
      (
        """
        UPDATE PERSIST_PARKED_VALUES SET VALUE = CAST(SUBSTR(VALUE, 1, 199) || x'07' AS BLOB)
        WHERE OBJECT = 2 AND SLOT = (SELECT SLOT FROM PERSIST_PARKED WHERE PROPERTY = 'photo')
        """, "1 of the values of Note.photo"
      ),
      ("DELETE FROM PERSIST_PARKED_VALUES WHERE VALUE = 't3'", "1 of the values of Tag.title"),
      (
        """
        DELETE FROM PERSIST_PARKED_VALUES WHERE OBJECT = 1
        AND SLOT = (SELECT SLOT FROM PERSIST_PARKED WHERE KIND = 'object')
        """, "1 of the objects of Tag"
      ),
      ("DELETE FROM PERSIST_PARKED_PAIRS WHERE OWNER = 4", "1 of the pairs of Note.tags"),
      ("DELETE FROM PERSIST_PARKED WHERE KIND = 'relationship'", "4 of the pairs of Note.tags"),
    ])
  func loss(damage: String, words: String) throws {
    try withParked { url, registry in
      var migrator = AutomaticMigrator().provingInPlace()
      let compare = try #require(migrator.compareWays)
      migrator.compareWays = { trials in
        try BuiltProgram.run("SQLRunner", trials.inPlace.path, damage)
        return try compare(trials)
      }
      let before = try storedContents(at: StoreLocation(url))
      let error = persistError {
        try migrator.migrate(storeAt: url, to: registry.versions[2], registry: registry)
      }
      #expect(error?.code == .migrationFailed && error?.place.store == url)
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
      try #expect(storedContents(at: StoreLocation(url)) == before)
    }
  }

  @Test("Parked values that remained in their column are compared too")
  func column() throws {
    try withParked(.always) { url, registry in
      var migrator = AutomaticMigrator().provingInPlace()
      let compare = try #require(migrator.compareWays)
      migrator.compareWays = { trials in
        let names = try MadeStore.rows(
          """
          SELECT s.COLUMNNAME FROM PERSIST_PARKED_STATES AS s JOIN PERSIST_PARKED AS p ON p.SLOT = s.SLOT
          WHERE p.PROPERTY = 'color'
          """, at: trials.inPlace)
        let name = try #require(names.first?.first)
        try BuiltProgram.run("SQLRunner", trials.inPlace.path, "UPDATE ZNOTE SET \(name) = NULL WHERE Z_PK = 2")
        return try compare(trials)
      }
      let error = persistError {
        try migrator.migrate(storeAt: url, to: registry.versions[2], registry: registry)
      }
      #expect(error?.message.contains("1 of the values of Note.color") == true, "\(String(describing: error))")
    }
  }

  @Test(
    "What both ways lose or change is found by a comparison with the store",
    arguments: [
      ("DELETE FROM PERSIST_PARKED_VALUES WHERE VALUE = 'c2'", "1 of the values of Note.color"),
      ("UPDATE PERSIST_PARKED_VALUES SET VALUE = 'x' WHERE VALUE IN ('c1', 'c2')", "2 of the values of Note.color"),
      ("DELETE FROM PERSIST_PARKED_VALUES WHERE VALUE = 't3'", "1 of the values of Tag.title"),
      (
        """
        DELETE FROM PERSIST_PARKED_VALUES WHERE OBJECT = 1
        AND SLOT = (SELECT SLOT FROM PERSIST_PARKED WHERE KIND = 'object')
        """, "1 of the objects of Tag"
      ),
      ("DELETE FROM PERSIST_PARKED_PAIRS WHERE OWNER = 4", "1 of the pairs of Note.tags"),
      ("DELETE FROM PERSIST_PARKED WHERE KIND = 'relationship'", "4 of the pairs of Note.tags"),
      ("UPDATE ZNOTE SET ZSIZE = NULL WHERE Z_PK = 2", "1 of the values of Note.size"),
      ("UPDATE ZNOTE SET ZSIZE = 99 WHERE Z_PK < 3", "2 of the values of Note.size"),
    ])
  func lossOfBoth(damage: String, words: String) throws {
    try withParked { url, registry in
      let error = try failure(of: url, to: registry.versions[2], registry) { copy in
        try BuiltProgram.run("SQLRunner", copy.path, damage)
      }
      #expect(error?.message.contains("neither parked nor in the new version: \(words)") == true, "\(error as Any)")
    }
  }

  @Test(
    "Returned objects and pairs are compared with the store",
    arguments: [
      ("DELETE FROM ZTAG WHERE Z_PK = 2", "1 of the objects of Tag"),
      ("UPDATE ZTAG SET ZTITLE = 'x' WHERE Z_PK = 2", "1 of the values of Tag.title"),
      ("DELETE FROM JOINTABLE", "4 of the pairs of Note.tags"),
    ])
  func lossOfReturned(damage: String, words: String) throws {
    try withParked { url, registry in
      let error = try failure(of: url, to: registry.versions[1], registry) { copy in
        let join = try MadeStore.rows(
          "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z%TAGS'", at: copy)
        try BuiltProgram.run("SQLRunner", copy.path, damage.replacing("JOINTABLE", with: join.first?.first ?? ""))
      }
      #expect(error?.message.contains(words) == true, "\(error as Any)")
    }
  }

  /// The error of a migration both of whose copies are damaged in the same way before they are compared.
  private func failure(
    of url: URL, to version: ModelVersion, _ registry: ModelRegistry, _ damage: @escaping @Sendable (URL) throws -> Void
  ) throws -> PersistenceError? {
    var migrator = AutomaticMigrator().provingInPlace()
    let compare = try #require(migrator.compareWays)
    migrator.compareWays = { trials in
      for copy in [trials.inPlace, trials.copied] { try damage(copy) }
      return try compare(trials)
    }
    let before = try storedContents(at: StoreLocation(url))
    let error = persistError { try migrator.migrate(storeAt: url, to: version, registry: registry) }
    #expect(error?.code == .migrationFailed && error?.place.store == url)
    try #expect(storedContents(at: StoreLocation(url)) == before)
    return error
  }

  // MARK: Copies

  @Test("A verified copy has every parked value; one that differs is named")
  func copies() throws {
    try withParked { url, _ in
      let copy = otherStore("copy", beside: url)
      _ = try VerifiedCopy(of: url, to: copy).run()
      let marks = try [url, copy].map { url in
        try StoreLocation(url).inspect { try ParkedMarks($0) }
      }
      #expect(marks[0].firstLoss(in: marks[1]) == nil && marks[1].firstLoss(in: marks[0]) == nil)
      try MadeStore.run("UPDATE PERSIST_PARKED_VALUES SET VALUE = 'x' WHERE VALUE = 'c2'", at: copy)
      let changed = try StoreLocation(copy).inspect {
        try ParkedMarks($0)
      }
      #expect(marks[0].firstLoss(in: changed)?.contains("1 of the values of Note.color, parked for '2'") == true)
    }
  }

  // MARK: Checks

  private func problems(_ url: URL) throws -> [StoreProblem] {
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: nil) { problems.append($0) }
    return problems
  }

  @Test(
    "A check names what can't come back",
    arguments: [
      ("DELETE FROM PERSIST_PARKED_MODELS", "lacks the model of '2'", 6),
      ("UPDATE PERSIST_PARKED_MODELS SET CONTENT = '{}'", "lacks the model of '2'", 6),
      ("DELETE FROM PERSIST_PARKED WHERE KIND = 'relationship'", "4 parked rows", 1),
      ("UPDATE PERSIST_PARKED SET PROPERTY = 'colour' WHERE PROPERTY = 'color'", "lacks the model", 1),
    ])
  func check(damage: String, words: String, count: Int) throws {
    try withParked { url, _ in
      try #expect(problems(url) == [])
      try MadeStore.run(damage, at: url)
      let found = try problems(url)
      #expect(found.count == count && found.allSatisfy { $0.kind == .parkedValues && $0.detail.contains(words) })
    }
  }
}
