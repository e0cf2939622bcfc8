import LinkedSQLite
import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Before, during and after a migration")
struct GuardedMigrationTests {
  private func withStore(
    _ way: MigrationScenario.Way, _ body: (MigrationScenario, URL) throws -> Void
  ) throws {
    let scenario = try MigrationScenario(way)
    try withTemporaryStore { url in
      try scenario.makeStore(at: url, marks: 12)
      try body(scenario, url)
    }
  }

  @Test("Insufficient disk space is refused with the figures", .aboutFiles("the free space of a disk"))
  func room() throws {
    let error = #expect(throws: PersistenceError.self) {
      try DiskSpaceCheck(needed: 120_000_000, free: 81_000_000).require(at: URL(fileURLWithPath: "/Store.sqlite"))
    }
    #expect(error?.code == .diskFull)
    #expect(
      error?.message == "The migration needs about 120 MB of free disk space next to the store; 81 MB is available.")
    try DiskSpaceCheck(needed: 5, free: 5).require(at: URL(fileURLWithPath: "/Store.sqlite"))
    try withStore(.copiedBySQL) { _, url in
      let check = try #require(DiskSpaceCheck(besideStoreAt: url, needed: 5))
      #expect(check.free > 0)
    }
  }

  @Test(
    "A damaged store is refused before anything is written",
    .aboutFiles("damage of files"), arguments: MigrationScenario.Way.allCases)
  func damaged(way: MigrationScenario.Way) throws {
    try withStore(way) { scenario, url in
      let file = try FileHandle(forUpdating: url)
      try file.seek(toOffset: UInt64(try MadeStore.page(of: "ZMARK", at: url) - 1) * 4096 + 8)
      try file.write(contentsOf: Data(repeating: 0xA5, count: 4000))
      try file.close()
      let before = try Data(contentsOf: url)
      let error = #expect(throws: PersistenceError.self) { try scenario.migrate(url) }
      #expect(error?.code == .storeDamaged)
      try #expect(Data(contentsOf: url) == before)
    }
  }

  @Test(
    "A backup is kept, or deleted after the migration, as requested",
    .aboutFiles("backups"), arguments: MigrationScenario.Way.allCases)
  func backup(way: MigrationScenario.Way) throws {
    try withStore(way) { scenario, url in
      let folder = url.deletingLastPathComponent()
      let before = try StoreDump(of: scenario.versions[0].model, at: url)
      let copy = folder.appendingPathComponent("backups/before.sqlite")
      try scenario.migrate(url, options: options(.kept(at: copy)))
      try #expect(StoreDump(of: scenario.versions[0].model, at: copy) == before)
    }
    try withStore(way) { scenario, url in
      try scenario.migrate(url, options: options(.removedAfterward))
      let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      #expect(Set(names).subtracting([".Store_SUPPORT"]) == ["Store.sqlite"])
    }
  }

  private func options(_ backup: MigrationBackup) -> StoreOptions {
    var options = StoreOptions()
    options.backup = backup
    return options
  }

  @Test("A store damaged by a failed migration is restored from the backup", .aboutFiles("backups"))
  func restored() throws {
    struct Refusal: Error {}
    try withStore(.inPlace) { scenario, url in
      let before = try StoreDump(of: scenario.versions[0].model, at: url)
      #expect(throws: Refusal.self) {
        try BackedUpMigration(store: url, backup: .removedAfterward).run {
          let file = try FileHandle(forUpdating: url)
          try file.seek(toOffset: 4096)
          try file.write(contentsOf: Data(repeating: 0xA5, count: 40_000))
          try file.close()
          throw Refusal()
        }
      }
      try #expect(StoreDump(of: scenario.versions[0].model, at: url) == before)
      try scenario.migrate(url)
    }
  }

  @Test(
    "A migration that fails without damage restores nothing: others' writes in the meantime remain",
    .aboutFiles("backups"))
  func notRestored() throws {
    struct Refusal: Error {}
    try withStore(.inPlace) { _, url in
      #expect(throws: Refusal.self) {
        try BackedUpMigration(store: url, backup: .removedAfterward).run {
          try MadeStore.run("DELETE FROM ZTAG", at: url)
          throw Refusal()
        }
      }
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZTAG", at: url) == [["0"]])
      #expect(FileState(BackupFolder.url(besideStoreAt: url)) == nil)
    }
  }

  @Test("A backup begun by a killed migration blocks nothing", .aboutFiles("backups"), arguments: [true, false])
  func begun(isKept: Bool) throws {
    try withStore(.inPlace) { scenario, url in
      let place = url.deletingLastPathComponent().appendingPathComponent("before.sqlite")
      try beginBackup(of: url, isKept ? .kept(at: place) : .removedAfterward)
      if isKept { try Data("half".utf8).write(to: place.appendingPathExtension("partial-\(UUID().uuidString)")) }
      try scenario.migrate(url, options: options(.kept(at: place)))
      let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
      #expect(Set(names).subtracting([".Store_SUPPORT", ".before_SUPPORT"]) == ["Store.sqlite", "before.sqlite"])
    }
  }

  @Test("If the process is killed after the migration's commit, a backup to be kept is kept", .aboutFiles("backups"))
  func keptAfterKill() throws {
    try withStore(.inPlace) { scenario, url in
      let before = try StoreDump(of: scenario.versions[0].model, at: url)
      let place = url.deletingLastPathComponent().appendingPathComponent("before.sqlite")
      let folder = try BackupFolder(besideStoreAt: url, for: .kept(at: place))
      try StoreBackup.copy(storeAt: url, to: place)
      try scenario.migrate(url)
      withExtendedLifetime(folder) {}
      try #expect(StoreDump(of: scenario.versions[0].model, at: place) == before)
    }
  }

  @Test(
    "A store about to be restored when the process was killed is restored the next time it is opened",
    .aboutFiles("backups"))
  func restoredLater() throws {
    try withStore(.inPlace) { scenario, url in
      let before = try StoreDump(of: scenario.versions[0].model, at: url)
      try beginBackup(of: url, .removedAfterward)
      try Data(repeating: 7, count: 5000).write(to: url)
      let coordinator = PersistentStoreCoordinator(model: scenario.versions[0].model)
      try coordinator.remove(coordinator.addStore(at: url))
      try #expect(StoreDump(of: scenario.versions[0].model, at: url) == before)
      #expect(FileState(BackupFolder.url(besideStoreAt: url)) == nil)
    }
  }

  /// Leaves a backup as a killed process does.
  private func beginBackup(of url: URL, _ backup: MigrationBackup) throws {
    let folder = try BackupFolder(besideStoreAt: url, for: backup)
    try StoreBackup.copy(storeAt: url, to: folder.copy)
  }

  /// Leaves the state of a migration killed around its exchange: a large value that was added, one to be deleted.
  private func beginExchange(
    of url: URL, _ logEntry: MigrationLogEntry
  ) throws -> (folder: URL, values: ExternalDataFolder) {
    let folder = WorkingFolder.url(besideStoreAt: url)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let values = ExternalDataFolder(storeAt: url)
    for name in ["BROUGHT", "OLD"] { try Data(name.utf8).write(to: values.url.appendingPathComponent(name)) }
    try ExchangeRecord(logEntry: logEntry.propertyList, added: ["BROUGHT"], removed: ["OLD"]).write(in: folder)
    return (folder, values)
  }

  @Test(
    "An interrupted exchange is completed or reverted the next time the store is opened",
    .aboutFilesOfLargeValues, arguments: [true, false])
  func interrupted(isDecided: Bool) throws {
    try withStore(.copiedBySQL) { scenario, url in
      let before = ExternalDataFolder(storeAt: url).names()
      let entry = MigrationLogEntry(date: Date(), from: "1", to: "2", way: .copy, rows: 1, seconds: 0.1)
      if isDecided {
        let location = StoreLocation(url)
        try location.engine.changeMetadata(of: location, completingFile: false) { $0.log(entry) }
      }
      let (folder, values) = try beginExchange(of: url, entry)
      let coordinator = PersistentStoreCoordinator(model: scenario.versions[0].model)
      try coordinator.remove(coordinator.addStore(at: url))
      #expect(Set(values.names()) == Set(before + [isDecided ? "BROUGHT" : "OLD"]))
      #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
  }

  @Test(
    "The folder of a running migration is left alone, and a second one is refused when its timeout expires",
    .aboutFiles("folders beside the store"))
  func folderInUse() throws {
    try withStore(.copiedBySQL) { scenario, url in
      let folder = try WorkingFolder(besideStoreAt: url)
      try UnfinishedWork.cleanUp(storeAt: url, options: StoreOptions())
      #expect(FileManager.default.fileExists(atPath: folder.url.path))
      let error = #expect(throws: PersistenceError.self) {
        try scenario.migrate(url, options: StoreOptions(busyTimeout: .milliseconds(1)))
      }
      #expect(error?.code == .storeBusy)
      folder.remove()
      try scenario.migrate(url)
    }
  }

  @Test(
    "Inspecting a store doesn't release the locks held by another connection of the process",
    .aboutFiles("locks of files"))
  func locks() throws {
    try withStore(.copiedBySQL) { scenario, url in
      try MadeStore.run("PRAGMA journal_mode = DELETE", at: url)
      let hold = try StoreHold(url, options: StoreOptions())
      _ = try PersistentStoreCoordinator.metadata(at: url)
      let runner = TestRun.newProcess()
      runner.executableURL = try BuiltProgram.url("SQLRunner")
      runner.arguments = [url.path, "PRAGMA busy_timeout = 200; CREATE TABLE STOLEN (A)"]
      runner.standardError = FileHandle.nullDevice
      try runner.run()
      runner.waitUntilExit()
      #expect(runner.terminationStatus == 4)
      hold.end()
    }
  }

  @Test(
    "A journal left by a killed writer is rolled back by the next migration and when the store is next opened",
    .aboutFiles("the journal"))
  func journal() throws {
    try withTemporaryFolder { folder in
      let law = try DisturbedMigration(.inPlace, in: folder)
      try MadeStore.run("PRAGMA journal_mode = DELETE", at: law.seed)
      let work = folder.appendingPathComponent("work")
      try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
      let store = try copyStore(law.seed, to: work)
      let recorder = CrashRecorder(work)
      try WatchedFiles.watching(work, { recorder.record($0) }) { try law.scenario.migrate(store) }
      let images = recorder.images.filter { $0.files["Store.sqlite-journal"]?.isEmpty == false }
      #expect(!images.isEmpty)
      // Of many similar states, some are enough.
      let step = TestLength.isLong ? 1 : max(1, images.count / 16)
      for (number, image) in images.enumerated() where number % step == 0 || number == images.count - 1 {
        let place = folder.appendingPathComponent("image-\(number)")
        try image.write(to: place)
        try law.expectWhole(place.appendingPathComponent("Store.sqlite"), image.moment)
      }
    }
  }

  @Test("Omitted objects leave no references behind: otherwise it is refused, with entity, property and row")
  func dangling() throws {
    let models = try ["first", "second"].map { name in
      try model(
        EntityDescription("Item", relationships: [.init("box", to: "Box", inverse: "items")]),
        EntityDescription(
          "Box", attributes: [.init("size", .int32), .init(name, .string)],
          relationships: [.init("items", toMany: "Item", inverse: "box")]))
    }
    try withTemporaryFolder { folder in
      let (old, new) = (folder.appendingPathComponent("old.sqlite"), folder.appendingPathComponent("new.sqlite"))
      try MadeStore.make(models[0], at: old)
      try MadeStore.fill(models[0], at: old, rows: 8, seed: 3)
      var mapping = try MappingModel.inferred(from: models[0], to: models[1])
      let box = try #require(mapping.entityMappings.firstIndex { $0.sourceEntityName == "Box" })
      mapping.entityMappings[box].sourceExpression = .sourceObjects(of: "Box", where: "size == 123456")
      try MigrationManager(sourceModel: models[0], destinationModel: models[1])
        .migrateStore(from: old, to: new, mappingModel: mapping)
      var problems: [String] = []
      let registry = ModelRegistry(versions: [ModelVersion(name: "2", model: models[1])])
      try checkStore(at: new, registry: registry) { problems.append("\($0)") }
      #expect(problems == [])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZITEM", at: new) == [["8"]])
    }
  }

  @Test("A store newer than the program's version has its own error code")
  func newer() throws {
    let scenario = try MigrationScenario(.inPlace)
    let registry = scenario.registry
    try withTemporaryStore { url in
      try MadeStore.make(scenario.versions[0].model, at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: scenario.newest, registry: registry)
      try MadeStore.fill(scenario.newest.model, at: url, rows: 3, seed: 1)
      let error = #expect(throws: PersistenceError.self) {
        try AutomaticMigrator().migrate(storeAt: url, to: scenario.versions[0], registry: registry)
      }
      let codes = [error?.code] + (error?.errors.map(\.code) ?? [])
      #expect(codes.contains(.newerStore))
    }
  }
}
