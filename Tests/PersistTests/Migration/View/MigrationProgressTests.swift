import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist

@Suite("How far a migration is")
struct MigrationProgressTests {
  /// Every way that a migration can go.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case inPlace, copyBySQL, copyByObject, chain

    var testDescription: String { rawValue }

    /// A chain's hops take three ways, one after the other; the others have one hop.
    var versions: [ModelVersion] {
      get throws {
        func version(_ number: Int, _ attributes: [String]) throws -> ModelVersion {
          let names = ["name"] + attributes
          return ModelVersion(
            name: "\(number)",
            model: try model(
              EntityDescription(
                "Item", attributes: names.map { AttributeDescription($0, .string) },
                relationships: [RelationshipDescription("tags", toMany: "Tag", inverse: "items")]),
              EntityDescription(
                "Tag", attributes: [AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")])))
        }
        let all = try [version(1, ["a", "b"]), version(2, ["a", "c", "d"]), version(3, ["e"]), version(4, ["e", "f"])]
        return self == .chain ? all : Array(all.prefix(2))
      }
    }

    func migrator(_ versions: [ModelVersion]) throws -> AutomaticMigrator {
      var migrator = AutomaticMigrator(alwaysCopies: self == .copyBySQL)
      if self == .copyByObject {
        var mapping = try MappingModel.inferred(from: versions[0].model, to: versions[1].model)
        for index in mapping.entityMappings.indices { mapping.entityMappings[index].policyName = "EntityMigrationPolicy" }
        migrator.mappingModels = [mapping]
        migrator.policies = [EntityMigrationPolicy.self]
      }
      if self == .chain {
        migrator.mappingModels = [try MappingModel.inferred(from: versions[1].model, to: versions[2].model)]
        migrator.staged = try StagedMigration([
          .lightweight(Array(versions.prefix(3))),
          .custom(from: versions[2], to: versions[3], willMigrate: { _ in }, didMigrate: { _ in }),
        ])
      }
      return migrator
    }
  }

  /// A filled store of the first version, and what is in it.
  private func withStore(
    _ way: Way, rows: Int = 30, _ body: (URL, ModelRegistry, AutomaticMigrator, StoreDump) throws -> Void
  ) throws {
    let versions = try way.versions
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try MadeStore.make(versions[0].model, at: url)
      try MadeStore.fill(versions[0].model, at: url, rows: rows, seed: 3)
      try body(
        url, ModelRegistry(versions: versions), way.migrator(versions), StoreDump(of: versions[0].model, at: url))
    }
  }

  @Test(
    "Rows that are done never fall, of a total that stays, and reach it only when the store has the new version",
    arguments: Way.allCases)
  func monotone(_ way: Way) throws {
    try withStore(way) { url, registry, migrator, _ in
      var migrator = migrator
      let states = LockProtected<[MigrationProgress]>([])
      migrator.progress = { state in
        states.withLock { $0.append(state) }
        return true
      }
      try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      let found = states.withLock { $0 }
      #expect(found.map(\.completed) == found.map(\.completed).sorted())
      #expect(Set(found.map(\.total)).count == 1)
      #expect(found.map(\.hop.number) == found.map(\.hop.number).sorted())
      let last = try #require(found.last)
      #expect(last.fraction == 1)
      #expect(last.pass == .done)
      #expect(last.timeLeft == .zero)
      #expect(last.hop.number == registry.versions.count - 1)
      #expect(found.count { $0.fraction == 1 } == 1)
      let passes = Set(found.map(\.pass))
      switch way {
      case .inPlace: #expect(passes == [.inPlace, .done])
      case .copyBySQL, .copyByObject:
        #expect(passes == [.objects, .relationships, .validation, .exchange, .done])
        #expect(Set(found.filter { $0.pass == .objects }.map(\.entity)) == ["Item", "Tag"])
      case .chain:
        #expect(passes == [.inPlace, .objects, .relationships, .validation, .stage, .exchange, .done])
      }
    }
  }

  @Test("Cancelled at whichever step, the store is as it was and nothing lies beside it", arguments: Way.allCases)
  func cancelled(_ way: Way) throws {
    let steps = try stepCount(of: way)
    #expect(steps > 3)
    for step in 1..<steps {
      try withStore(way) { url, registry, migrator, before in
        var migrator = migrator
        let calls = Atomic(0)
        migrator.progress = { _ in calls.wrappingAdd(1, ordering: .relaxed).newValue < step }
        let error = #expect(throws: PersistenceError.self) {
          try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        }
        #expect(error?.code == .migrationCancelled)
        try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)
        let files = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        #expect(files.allSatisfy { $0.hasPrefix("Store.sqlite") }, "\(files)")
        migrator.progress = nil
        try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      }
    }
  }

  /// How many times it can be cancelled; the last report comes when all is done.
  private func stepCount(of way: Way) throws -> Int {
    let calls = Atomic(0)
    try withStore(way) { url, registry, migrator, _ in
      var migrator = migrator
      migrator.progress = { _ in
        calls.wrappingAdd(1, ordering: .relaxed)
        return true
      }
      try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
    }
    return calls.load(ordering: .relaxed)
  }

  @Test("Within one long statement the rows are told that it has gone through, and it can be cancelled there")
  func withinStatement() throws {
    try withTemporaryStore { url in
      let connection = try SQLiteConnection(url, mode: .create)
      defer { connection.close() }
      func run(_ sql: String) throws { try connection.execute(SQLText(storedIn: StoredDefinition(sql: sql))) }
      try run("CREATE TABLE T (A INTEGER, B VARCHAR)")
      try run(
        """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        INSERT INTO T SELECT i, 'some text' FROM n
        """)
      for statement in [
        "UPDATE T SET B = A || B", "CREATE TABLE U AS SELECT * FROM T WHERE A % 2 = 0", "CREATE INDEX I ON T (B, A)",
      ] {
        var told: [Int64] = []
        try connection.reportingProgress(
          rows: 100_000,
          {
            told.append($0)
            return true
          }) { try run(statement) }
        #expect(told == told.sorted())
        #expect(told.count > 5, "\(statement)")
        // It is known in about where the statement is: near the start at first, and near the end at last.
        #expect(told.first.map { $0 < 50_000 } == true, "\(statement): \(told)")
        #expect(told.last.map { $0 > 50_000 && $0 <= 100_000 } == true, "\(statement): \(told)")
      }
      let error = #expect(throws: PersistenceError.self) {
        try connection.reportingProgress(rows: 100_000, { $0 < 50_000 }) { try run("UPDATE T SET B = A") }
      }
      #expect(error?.code == .interrupted)
    }
  }

  @Test("A Foundation Progress counts the rows, moves its parent along and cancels")
  func foundation() throws {
    try withStore(.copyBySQL) { url, registry, migrator, before in
      let (whole, part) = (Progress(totalUnitCount: 10), Progress(totalUnitCount: 0))
      whole.addChild(part, withPendingUnitCount: 5)
      var migrator = migrator
      migrator.report(to: part)
      part.cancel()
      #expect(throws: PersistenceError.self) {
        try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      }
      try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)

      let another = Progress(totalUnitCount: 0)
      whole.addChild(another, withPendingUnitCount: 5)
      migrator.report(to: another)
      try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      #expect(another.isFinished)
      #expect(another.totalUnitCount > 60)
      #expect(whole.fractionCompleted >= 0.5)
    }
  }

  @Test("Events tell hop, pass and entity in their order, and end when the store is migrated", arguments: Way.allCases)
  func events(_ way: Way) async throws {
    let (url, registry, migrator) = try made(way)
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    var passes: [String] = []
    for try await event in migrator.events(migrating: url, to: registry.currentVersion, registry: registry) {
      if passes.last != event.pass.rawValue { passes.append(event.pass.rawValue) }
    }
    #expect(passes.last == "done")
    #expect(Set(passes).count > 1)
    let reached = try StoreIdentification.identify(storeAt: url, registry: registry).version?.name
    #expect(reached == "\(registry.versions.count)")
  }

  private final class Flag: Sendable {
    let value = Atomic(false)
  }

  @Test("Whoever stops listening cancels the migration")
  func leaving() async throws {
    let (url, registry, made) = try made(.copyByObject)
    var migrator = made
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let before = try StoreDump(of: registry.versions[0].model, at: url)
    // The migration stands still in the middle until nobody listens any more.
    let hasLeft = Flag()
    migrator.progress = { state in
      while state.pass == .objects, !hasLeft.value.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: 0.01) }
      return true
    }
    for try await event in migrator.events(migrating: url, to: registry.currentVersion, registry: registry) {
      if event.pass == .objects { break }
    }
    hasLeft.value.store(true, ordering: .relaxed)
    // The migration ends soon, on a thread of its own, and takes its folder away.
    let folder = url.deletingLastPathComponent().path
    for _ in 0..<200 {
      if try !FileManager.default.contentsOfDirectory(atPath: folder).contains(where: { $0.hasPrefix(".") }) { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)
  }

  @Test("Events throw what the migration throws")
  func failing() async throws {
    let (url, registry, migrator) = try made(.inPlace)
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    try Data("no store".utf8).write(to: url)
    await #expect(throws: PersistenceError.self) {
      for try await _ in migrator.events(migrating: url, to: registry.currentVersion, registry: registry) {}
    }
  }

  /// A filled store in a folder of its own, which the caller removes.
  private func made(_ way: Way, rows: Int = 30) throws -> (URL, ModelRegistry, AutomaticMigrator) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let versions = try way.versions
    let url = folder.appendingPathComponent("Store.sqlite")
    try MadeStore.make(versions[0].model, at: url)
    try MadeStore.fill(versions[0].model, at: url, rows: rows, seed: 3)
    return (url, ModelRegistry(versions: versions), try way.migrator(versions))
  }
}
