import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migrations of encrypted stores", .serialized, .needsEncryption)
struct EncryptedMigrationTests {
  /// Values of the scenario's store, and words of its schema.
  private static let texts = ["mark 1", "cccccc", "ZMARK", "Z_METADATA", "CREATE TABLE", "SQLite format"]

  private struct Kind {
    let law: DisturbedMigration
    let duration: Double
  }

  @Test(
    "A process killed at a random moment leaves the old or the new version, and nothing that can be read",
    .law("killed-encrypted-migrations", short: 12, long: 600))
  func killed() throws {
    try TestKey.using { environment in
      try withTemporaryFolder { folder in
        var kinds: [UInt64: Kind] = [:]
        var ends = 0
        let count = forEachSeed { seed in
          var random = SeededRandom(seed: seed)
          let ways = MigrationScenario.Way.allCases
          let number = seed % UInt64(ways.count * 2)
          let kind = try kinds[number]
            ?? make(ways[Int(number) / 2], hasLog: number % 2 == 0, in: folder, environment)
          kinds[number] = kind
          let moment = Double.random(in: 0...kind.duration * 1.1, using: &random)
          let (store, _, wasKilled) = try kind.law.runProcess(in: folder, environment, killAfter: moment)
          if !wasKilled { ends += 1 }
          let beside = store.deletingLastPathComponent()
          #expect(try LegibleParts.find(in: beside, texts: Self.texts) == [], "killed after \(moment) s")
          try kind.law.expectWhole(store, "killed after \(moment) s")
          #expect(try LegibleParts.find(in: beside, texts: Self.texts) == [], "migrated again")
          try FileManager.default.removeItem(at: beside)
        }
        print("\(ends) of \(count) processes came to their end")
      }
    }
  }

  private func make(
    _ way: MigrationScenario.Way, hasLog: Bool, in folder: URL, _ environment: [String: String]
  ) throws -> Kind {
    let own = folder.appendingPathComponent("\(way)-\(hasLog)")
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    let law = try DisturbedMigration(way, in: own, marks: 200, hasLog: hasLog)
    let (_, duration, _) = try law.runProcess(in: own, environment, killAfter: nil)
    return Kind(law: law, duration: duration)
  }

  @Test(
    "No file that SQLite writes at any moment of a migration can be read", arguments: MigrationScenario.Way.allCases)
  func moments(way: MigrationScenario.Way) throws {
    try TestKey.using { _ in
      try withTemporaryFolder { folder in
        let law = try DisturbedMigration(way, in: folder)
        let work = folder.appendingPathComponent("work")
        try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
        let store = try copyStore(law.seed, to: work)
        let recorder = CrashRecorder(work)
        try WatchedFiles.watching(work, { recorder.record($0) }) { try law.scenario.migrate(store) }
        recorder.recordEnd()
        var seen: [String: Data] = [:]
        let images = recorder.images
        let step = TestLength.isLong ? 1 : max(1, images.count / 20)
        for index in stride(from: images.count - 1, through: 0, by: -step) {
          let image = images[index]
          for (path, content) in image.files where seen[path] != content {
            seen[path] = content
            let name = (path as NSString).lastPathComponent
            #expect(LegibleParts.find(in: content, named: name, texts: Self.texts) == [], "\(image.moment)")
          }
        }
        #expect(!seen.isEmpty)
      }
    }
  }

  @Test("SQLite opens no temporary file for an encrypted store, as it does for a plain one")
  func temporaryFiles() throws {
    try withTemporaryFolder { folder in
      LegibleParts.allow(in: folder)
      func work(_ name: String, _ options: StoreOptions) throws -> Int {
        let url = folder.appendingPathComponent(name)
        var options = options
        options.pragmas["cache_size"] = "5"
        try Notes.make(url, options, count: 400, picture: 40_000)
        return try WatchedFiles.temporaryFiles {
          let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
          defer { connection.close() }
          if options.key == nil { try connection.execute("PRAGMA temp_store = FILE") }
          _ = try connection.all("SELECT ZTITLE FROM ZNOTE ORDER BY ZPICTURE || random()") { $0.text(0) }
          // A statement that may be undone halfway, within a transaction.
          try connection.transaction {
            try connection.execute("UPDATE ZNOTE SET ZTITLE = ZTITLE || ' changed', Z_OPT = Z_OPT + 1")
            try connection.execute("CREATE INDEX pictures ON ZNOTE (ZPICTURE, ZTITLE)")
          }
          try connection.execute("VACUUM")
          connection.close()
          var copying = options
          copying.migrator = AutomaticMigrator(alwaysCopies: true)
          try Notes.migrate(url, copying)
        }
      }
      #expect(try work("Encrypted.sqlite", Notes.options()) == 0)
      let plain = try StoreEncryption.using(nil) { try work("Plain.sqlite", StoreOptions()) }
      #expect(plain > 0)
    }
  }

  @Test("What a migration removes is parked in the encrypted store, and comes back", arguments: [false, true])
  func parking(copies: Bool) throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try Notes.make(url)
      let bare = try ManagedObjectModel(version: "bare") {
        EntityDescription("Note") { AttributeDescription("rank", .int64, isOptional: true) }
        EntityDescription("Aardvark") { AttributeDescription("name", .string) }
      }
      let migrator = AutomaticMigrator(alwaysCopies: copies)
      func open(_ model: ManagedObjectModel, _ body: (PersistentStoreCoordinator) throws -> Void) throws {
        let coordinator = PersistentStoreCoordinator(model: model)
        let options = Notes.options(Notes.key, StoreOptions(migrator: migrator))
        let store = try coordinator.addStore(at: url, options: options)
        try body(coordinator)
        try coordinator.remove(store)
        #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [])
      }
      try open(bare) { try #expect(ManagedObjectContext($0).count(for: FetchRequest("Note")) == 20) }
      let parked = try StoreEncryption.using(Notes.key) { try PersistentStoreCoordinator.parkedContents(at: url) }
      #expect(!parked.isEmpty)
      try open(try #require(Notes.v1)) { _ in }
      #expect(try Notes.titles(url) == Notes.names())
    }
  }
}
