import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Commands after a killed migration", .serialized, .onOwnThread)
struct KilledCommandTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  /// A filled store of the first version, with a log or with a rollback journal.
  private func makeStore(in folder: URL, hasLog: Bool) throws -> URL {
    let store = folder.appendingPathComponent("Shop.sqlite")
    try #require(
      Command.run("fill", store.path, "--models", shop, "--version", "Shop", "--rows", "300").status == 0)
    if !hasLog {
      let connection = try SQLiteConnection(store, mode: .readWrite)
      try connection.execute(.journalModeDelete)
      connection.close()
    }
    return store
  }

  /// The ways to call `migrate`.
  private enum Way: Int, CaseIterable {
    case inPlace, copy, inPlaceWithBackup, copyWithBackup

    func arguments(_ store: URL, _ models: String) -> [String] {
      var arguments = ["migrate", store.path, "--models", models, "--allow-loss", "--json"]
      if self == .copy || self == .copyWithBackup { arguments.append("--copy") }
      if hasBackup { arguments += ["--backup", backup(of: store).path] }
      return arguments
    }

    var hasBackup: Bool { self == .inPlaceWithBackup || self == .copyWithBackup }

    func backup(of store: URL) -> URL { store.deletingLastPathComponent().appendingPathComponent("Before.sqlite") }
  }

  @Test(
    "Killed at a random moment, every command reads the store or says what to do, and 'migrate' continues",
    .law("killed-commands", short: 8, long: 500))
  func killed() throws {
    try withTemporaryFolder { folder in
      let seeds = try [true, false].map { hasLog in
        let own = folder.appendingPathComponent("\(hasLog)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        return try makeStore(in: own, hasLog: hasLog)
      }
      var durations: [Int: Double] = [:]
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let way = Way.allCases[Int(seed % 4)]
        let hasLog = seed / 4 % 2 == 0
        let duration = try durations[way.rawValue]
          ?? run(way, copyOf: seeds[0], in: folder, killAfter: nil) { _ in }
        durations[way.rawValue] = duration
        let moment = Double.random(in: 0...duration * 1.05, using: &random)
        _ = try run(way, copyOf: seeds[hasLog ? 0 : 1], in: folder, killAfter: moment) { store in
          try expectRecovery(of: store, way)
        }
      }
    }
  }

  /// - Returns: How long it ran.
  @discardableResult
  private func run(
    _ way: Way, copyOf seed: URL, in folder: URL, killAfter moment: Double?, _ body: (URL) throws -> Void
  ) throws -> Double {
    let work = folder.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: work) }
    let store = try copyStore(seed, to: work)
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("persist")
    process.arguments = Command.keyed(way.arguments(store, shop))
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    let start = Date()
    try process.run()
    if let moment {
      Thread.sleep(forTimeInterval: moment)
      // The identifier of a process that has ended may be another's.
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    process.waitUntilExit()
    let duration = Date().timeIntervalSince(start)
    try body(store)
    return duration
  }

  private func expectRecovery(of store: URL, _ way: Way) throws {
    let folder = store.deletingLastPathComponent()
    let untouched = try FolderSnapshot(folder)
    let needsRollback = try ReadOnlyAccess.hasHotJournal(store)
    for arguments in [
      ["inspect", store.path], ["dump", store.path, "--json"], ["check", store.path],
      ["plan", store.path, "--models", shop],
    ] {
      let outcome = try Command.run(arguments)
      guard outcome.status != 0 else { continue }
      #expect(needsRollback && outcome.messages.contains("persist migrate"), "\(arguments[0]): \(outcome.messages)")
    }
    if !needsRollback { _ = try PersistentStoreCoordinator.metadata(at: store) }
    try #expect(FolderSnapshot(folder) == untouched, "something that only reads wrote")

    let again = try Command.run(way.arguments(store, shop))
    #expect(again.status == 0, "\(way): \(again.messages)")
    try #expect(Command.run("check", store.path, "--models", shop).output == "ok\n", "\(way)")
    try #expect(Command.run("inspect", store.path, "--models", shop, "--json").json().version == "Shop 3")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let own = ["Shop.sqlite", "Shop.sqlite-wal", "Shop.sqlite-shm", ".Shop_SUPPORT"]
      + (way.hasBackup ? ["Before.sqlite", ".Before_SUPPORT"] : [])
    #expect(names.filter { !own.contains($0) } == [], "\(way)")
    guard way.hasBackup else { return }
    let backup = way.backup(of: store)
    try #expect(Command.run("inspect", backup.path, "--models", shop, "--json").json().version == "Shop")
    try #expect(Command.run("check", backup.path).output == "ok\n", "\(way)")
  }

  @Test("A migration that is refused, or has nothing to do, creates no backup")
  func refused() throws {
    try withTemporaryFolder { folder in
      let store = try makeStore(in: folder, hasLog: true)
      let backup = folder.appendingPathComponent("Before.sqlite")
      let before = try FolderSnapshot(folder)
      // Without `--allow-loss` the loss is refused.
      let outcome = try Command.run("migrate", store.path, "--models", shop, "--backup", backup.path)
      #expect(outcome.status == 1)
      try #expect(FolderSnapshot(folder) == before)
      let arguments = ["migrate", store.path, "--models", shop, "--allow-loss", "--json", "--backup", backup.path]
      try #expect(Command.run(arguments).json()["backup"] as? String == backup.path)
      try FileManager.default.removeItem(at: backup)
      try #expect(Command.run(arguments).json()["backup"] as? String == nil)
      #expect(!FileManager.default.fileExists(atPath: backup.path))
    }
  }
}

extension NSDictionary {
  fileprivate var version: String? { (self["store"] as? [String: Any])?["version"] as? String }
}
