import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The contents of a scenario's store before and after, and the law for a disturbed migration.
struct DisturbedMigration {
  let scenario: MigrationScenario
  /// The seeded store, which stays unchanged.
  let seed: URL
  private let seedFiles: [String: Data]
  private let before: StoreDump
  private let after: StoreDump

  init(_ way: MigrationScenario.Way, in folder: URL, marks: Int = 12, hasLog: Bool = true) throws {
    scenario = try MigrationScenario(way)
    let seedFolder = folder.appendingPathComponent("seed")
    try FileManager.default.createDirectory(at: seedFolder, withIntermediateDirectories: true)
    seed = seedFolder.appendingPathComponent("Store.sqlite")
    try scenario.makeStore(at: seed, marks: marks)
    if !hasLog { try MadeStore.run("PRAGMA journal_mode = DELETE", at: seed) }
    seedFiles = try Self.files(in: seedFolder)
    before = try Self.dump(scenario.versions[0], seed)
    let migrated = folder.appendingPathComponent("migrated")
    try FileManager.default.createDirectory(at: migrated, withIntermediateDirectories: true)
    let store = try copyStore(seed, to: migrated)
    try scenario.migrate(store)
    after = try Self.dump(scenario.newest, store)
  }

  private static func dump(_ version: ModelVersion, _ url: URL) throws -> StoreDump {
    try StoreDump(of: version.model, at: url).withoutFileNames
  }

  private static func files(in folder: URL) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
      let file = folder.appendingPathComponent(path)
      if FileState(file)?.isFolder == false { files[path] = try Data(contentsOf: file) }
    }
    return files
  }

  /// The store has the old version or the new one, complete; the next attempt works without help; nothing is left
  /// behind.
  func expectWhole(_ store: URL, _ moment: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    do {
      try WatchedFiles.watching(store.deletingLastPathComponent(), { _ in .proceed }) {
        try examine(store, moment, sourceLocation)
      }
    } catch {
      Issue.record(error, "\(scenario), \(moment)", sourceLocation: sourceLocation)
    }
  }

  private func examine(_ store: URL, _ moment: String, _ sourceLocation: SourceLocation) throws {
    try UnfinishedWork.cleanUp(storeAt: store, options: StoreOptions())
    // Byte for byte the old one, with no other files: the first attempt once more.
    if try Self.files(in: store.deletingLastPathComponent()) == seedFiles { return }
    let version = try #require(try version(of: store), "\(scenario), \(moment)", sourceLocation: sourceLocation)
    let isOld = version.model === scenario.versions[0].model
    let found = try Self.dump(version, store).differences(from: isOld ? before : after)
    #expect(found == [], "\(scenario), \(moment)", sourceLocation: sourceLocation)
    try #expect(problems(store) == [], "\(scenario), \(moment)", sourceLocation: sourceLocation)
    try scenario.migrate(store)
    let migrated = try Self.dump(scenario.newest, store).differences(from: after)
    #expect(migrated == [], "\(scenario), \(moment), migrated again", sourceLocation: sourceLocation)
    try #expect(problems(store) == [], "\(scenario), \(moment), migrated again", sourceLocation: sourceLocation)
    let names = try FileManager.default.contentsOfDirectory(atPath: store.deletingLastPathComponent().path)
    // A log belongs to the store.
    let own = ["Store.sqlite", "Store.sqlite-wal", "Store.sqlite-shm", ".Store_SUPPORT"]
    let left = names.filter { !own.contains($0) }
    #expect(left == [], "\(scenario), \(moment)", sourceLocation: sourceLocation)
  }

  private func version(of store: URL) throws -> ModelVersion? {
    let connection = try SQLiteConnection(store, mode: .readWrite)
    defer { connection.close() }
    let fingerprints = try StoreCatalog(connection).record?.fingerprints
    return scenario.versions.first { $0.model.fingerprints == fingerprints }
  }

  private func problems(_ store: URL) throws -> [String] {
    var problems: [String] = []
    try checkStore(at: store, registry: scenario.registry) { problems.append("\($0)") }
    return problems
  }
}
