import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration progress")
struct MigrationProgressTests {
  /// Every method of migration.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case inPlace, copyBySQL, copyByObject, chain

    var testDescription: String { rawValue }

    /// A chain's hops use three methods, one after another; the others have one hop.
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

  /// A filled store of the first version, and its contents.
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
    "The number of processed rows never falls, its total is constant, and it is reached only with the new version",
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
        #expect(Set(found.filter { $0.pass == .objects }.compactMap(\.entity)) == ["Item", "Tag"])
        // Checks come first, and half of their work counts when they begin.
        #expect(found[0].entity == nil && found[0].completed > 0)
      case .chain:
        #expect(passes == [.inPlace, .objects, .relationships, .validation, .stage, .exchange, .done])
      }
    }
  }

  @Test("Canceled at any step, the store is unchanged and no other files remain", arguments: Way.allCases)
  func cancelled(_ way: Way) throws {
    let steps = try stepCount(of: way)
    #expect(steps > 3)
    // Neighbors are similar; the last ones, where files are exchanged, are not.
    for step in 1..<steps where TestLength.isLong || step % 3 == 1 || step > steps - 4 {
      try withStore(way) { url, registry, migrator, before in
        var migrator = migrator
        let calls = Atomic(0)
        migrator.progress = { _ in calls.wrappingAdd(1, ordering: .relaxed).newValue < step }
        let error = #expect(throws: PersistenceError.self) {
          try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
        }
        #expect(error?.code == .migrationCancelled)
        try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)
        if url.isFileURL {
          let files = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
          #expect(files.allSatisfy { $0.hasPrefix("Store.sqlite") }, "\(files)")
        }
        migrator.progress = nil
        try migrator.migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      }
    }
  }

  /// The number of times that it can be canceled; the last report follows the end.
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

  @Test("One long statement reports the rows it has processed, and can be canceled", .aboutFiles("SQLite's statements"))
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
        // The position within the statement is known approximately: near the start at first, and near the end at last.
        #expect(told.first.map { $0 < 50_000 } == true, "\(statement): \(told)")
        #expect(told.last.map { $0 > 50_000 && $0 <= 100_000 } == true, "\(statement): \(told)")
      }
      let error = #expect(throws: PersistenceError.self) {
        try connection.reportingProgress(rows: 100_000, { $0 < 50_000 }) { try run("UPDATE T SET B = A") }
      }
      #expect(error?.code == .interrupted)
    }
  }

  @Test(
    "The progress weighs rows, entries of indexes, and pages to write by their costs", .aboutFiles("pages and indexes"),
    arguments: [Way.inPlace, .copyBySQL, .copyByObject])
  func weights(_ way: Way) throws {
    let rows = 2000
    /// The reports of a migration to a version with so many more indexes.
    func reports(
      indexes: Int
    ) throws -> [(work: String, completed: Int64, total: Int64, pass: MigrationProgress.Pass)] {
      let names = (0..<4).map { "a\($0)" }
      func version(_ number: Int, _ kind: AttributeType, _ indexed: ArraySlice<String>) throws -> ModelVersion {
        ModelVersion(
          name: "\(number)",
          model: try model(
            EntityDescription(
              "Item",
              attributes: names.map { AttributeDescription($0, .string) } + [AttributeDescription("number", kind)],
              indexes: indexed.map { FetchIndexDescription("by\($0)", on: $0) })))
      }
      let versions = [try version(1, .int32, []), try version(2, .double, names.prefix(indexes))]
      let states = LockProtected<[MigrationProgress]>([])
      try withTemporaryStore { url in
        try MadeStore.make(versions[0].model, at: url)
        try MadeStore.fill(versions[0].model, at: url, rows: rows, seed: 1)
        var migrator = try way.migrator(versions)
        migrator.progress = { state in
          states.withLock { $0.append(state) }
          return true
        }
        try migrator.migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
      }
      return states.withLock { $0.map { ($0.current, $0.completed, $0.total, $0.pass) } }
    }
    let (without, with) = try (reports(indexes: 0), reports(indexes: 4))
    let difference = try #require(with.last).total - (try #require(without.last)).total
    let entries = Int64(rows) * 4 * WorkCost.indexEntry
    switch way {
    case .inPlace, .copyBySQL:
      #expect(abs(Double(difference) / Double(entries) - 1) < 0.05)
      // Each index begins where the one before it ends.
      let starts = with.filter { $0.work.contains("INDEX") || $0.work.hasPrefix("Z_Item_by") }.map(\.completed)
      let steps = zip(starts, starts.dropFirst()).map { $1 - $0 }.filter { $0 > 0 }
      #expect(steps.reduce(0, +) >= entries * 3 / 4 - Int64(rows))
    default:
      // Objects are inserted together with the entries of their indexes.
      #expect(difference == 0)
    }
    // The commit or the exchange remains when everything else is done.
    let last = try #require(with.last { $0.pass != .exchange && $0.pass != .done })
    let size = with.last.map { $0.total - last.completed } ?? 0
    let costOfPage = way == .inPlace ? WorkCost.inFile.committedPage : WorkCost.exchangedPage
    #expect(size >= WorkCost.pages(ofSize: 40 * rows, each: costOfPage))
  }

  @Test("A Foundation Progress counts the rows, advances its parent and cancels")
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

  @Test("Events name hop, pass and entity in their order, and end when the store is migrated", arguments: Way.allCases)
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

  @Test("Ending the iteration cancels the migration")
  func leaving() async throws {
    let (url, registry, made) = try made(.copyByObject)
    var migrator = made
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    let before = try StoreDump(of: registry.versions[0].model, at: url)
    // The migration pauses in the middle until the iteration ends.
    let hasLeft = Flag()
    migrator.progress = { state in
      while state.pass == .objects, !hasLeft.value.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: 0.01) }
      return true
    }
    for try await event in migrator.events(migrating: url, to: registry.currentVersion, registry: registry) {
      if event.pass == .objects { break }
    }
    hasLeft.value.store(true, ordering: .relaxed)
    // The migration ends soon, on a separate thread, and deletes its folder.
    let folder = url.deletingLastPathComponent().path
    for _ in 0..<200 {
      if try !FileManager.default.contentsOfDirectory(atPath: folder).contains(where: { $0.hasPrefix(".") }) { break }
      try await Task.sleep(for: .milliseconds(50))
    }
    try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)
  }

  @Test("Events throw the migration's errors")
  func failing() async throws {
    let (url, registry, migrator) = try made(.inPlace)
    defer { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
    try Data("no store".utf8).write(to: url)
    await #expect(throws: PersistenceError.self) {
      for try await _ in migrator.events(migrating: url, to: registry.currentVersion, registry: registry) {}
    }
  }

  /// A filled store in a separate folder, which the caller removes.
  private func made(_ way: Way, rows: Int = 30) throws -> (URL, ModelRegistry, AutomaticMigrator) {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let versions = try way.versions
    let url = folder.appendingPathComponent("Store.sqlite")
    try MadeStore.make(versions[0].model, at: url)
    try MadeStore.fill(versions[0].model, at: url, rows: rows, seed: 3)
    return (url, ModelRegistry(versions: versions), try way.migrator(versions))
  }

  @Test("A row with the greatest possible key is no obstacle", .aboutFiles("integer keys"), arguments: Way.allCases)
  func greatestKey(way: Way) throws {
    try withStore(way) { url, registry, migrator, _ in
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (9223372036854775807, 1, 1, 'last')",
        "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZTEXT) VALUES (9223372036854775807, 2, 1, 'last')", at: url)
      var migrator = migrator
      let last = Mutex(MigrationProgress(completed: 0, total: 1, current: ""))
      migrator.progress = { state in
        last.withLock { $0 = state }
        return true
      }
      let version = try #require(registry.versions.last)
      try migrator.migrate(storeAt: url, to: version, registry: registry)
      #expect(last.withLock { $0.completed == $0.total })
      try #expect(MadeStore.rows("SELECT MAX(Z_PK) FROM ZITEM", at: url) == [["9223372036854775807"]])
    }
  }

  @Test("Keys that would exceed the greatest possible one are refused by a mapping model")
  func exceededKeys() throws {
    let version = ModelVersion(name: "1", model: try model(EntityDescription("Item")))
    let next = ModelVersion(
      name: "2", model: try model(EntityDescription("Item", attributes: [AttributeDescription("a", .string)])))
    try withTemporaryStore { url in
      try MadeStore.make(version.model, at: url)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT) VALUES (9223372036854775807, 1, 1)", at: url)
      var mapping = try MappingModel.inferred(from: version.model, to: next.model)
      (mapping.sourceVersion, mapping.destinationVersion) = ("1", "2")
      var second = mapping.entityMappings[0]
      second.name = "Again"
      mapping.entityMappings.append(second)
      let error = #expect(throws: PersistenceError.self) {
        try AutomaticMigrator(mappingModels: [mapping])
          .migrate(storeAt: url, to: next, registry: ModelRegistry(versions: [version, next]))
      }
      #expect(error?.code == .limitExceeded, "\(String(describing: error))")
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: url) == [["1"]])
    }
  }
}
