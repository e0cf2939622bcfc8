import Foundation
import LinkedSQLite
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Changes of keys", .serialized, .needsEncryption, .onOwnThread)
struct KeyChangeTests {
  @Test("A store with a new key has its rows, and the old key is wrong", arguments: ["WAL", "DELETE"])
  func change(mode: String) throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      var options = Notes.options()
      options.pragmas["journal_mode"] = mode
      try Notes.make(url, options)
      try StoreLocation.file(url).changeKey(from: Notes.key, to: Notes.otherKey)
      #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [])
      #expect(try Notes.titles(url, Notes.options(Notes.otherKey)) == Notes.names())
      let error = #expect(throws: PersistenceError.self) { try Notes.titles(url) }
      #expect(error?.code == .wrongKey)
      try StoreLocation.file(url).changeKey(from: Notes.otherKey, to: { .passphrase("correct horse") })
      #expect(try Notes.titles(url, Notes.options { .passphrase("correct horse") }) == Notes.names())
    }
  }

  @Test("A change of the key waits for nobody: an open store is busy, and a wrong key changes nothing")
  func refusals() throws {
    try withTemporaryFile { url in
      try Notes.make(url)
      let wrong = #expect(throws: PersistenceError.self) {
        try StoreLocation.file(url).changeKey(from: Notes.otherKey, to: Notes.key)
      }
      #expect(wrong?.code == .wrongKey)
      // As another program has it open.
      let connection = try SQLiteConnection(url, mode: .readWrite, options: Notes.options())
      _ = try connection.first(.objectCount) { $0.integer(0) }
      let busy = #expect(throws: PersistenceError.self) {
        try StoreLocation.file(url).changeKey(from: Notes.key, to: Notes.otherKey)
      }
      #expect(busy?.code == .storeBusy)
      connection.close()
      let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v1))
      let store = try coordinator.addStore(at: url, options: Notes.options())
      let open = #expect(throws: PersistenceError.self) {
        try StoreLocation.file(url).changeKey(from: Notes.key, to: Notes.otherKey)
      }
      #expect(open?.code == .storeBusy)
      try coordinator.remove(store)
      #expect(try Notes.titles(url) == Notes.names())
    }
  }

  @Test(
    "A process killed while it changes a key leaves the old key or the new one, and all rows",
    .law("killed-key-changes", short: 12, long: 400))
  func killed() throws {
    try withTemporaryFolder { folder in
      let original = folder.appendingPathComponent("Original.sqlite")
      try Notes.make(original, count: 60)
      let duration = try (0..<2).map { _ in try change(original, in: folder, killAfter: nil).duration }.max() ?? 0
      var outcomes: [String: Int] = [:]
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let moment = Double.random(in: 0...duration * 1.1, using: &random)
        let (store, _) = try change(original, in: folder, killAfter: moment)
        let beside = store.deletingLastPathComponent()
        defer { try? FileManager.default.removeItem(at: beside) }
        #expect(try LegibleParts.find(in: beside, texts: Notes.texts) == [], "killed after \(moment) s")
        var opened: [String] = []
        for (name, key) in [("old", Notes.key), ("new", Notes.otherKey)] {
          do {
            #expect(try Notes.titles(store, Notes.options(key)) == Notes.names(60))
            opened.append(name)
          } catch let error as PersistenceError {
            #expect(error.code == .wrongKey, "killed after \(moment) s: \(error)")
          }
        }
        #expect(opened.count == 1, "killed after \(moment) s: \(opened)")
        outcomes[opened.first ?? "neither", default: 0] += 1
      }
      print("keys after kills: \(outcomes)")
    }
  }

  private func change(
    _ original: URL, in folder: URL, killAfter moment: Double?
  ) throws -> (store: URL, duration: Double) {
    let work = folder.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: work, withIntermediateDirectories: true)
    let store = work.appendingPathComponent("Store.sqlite")
    try FileManager.default.copyItem(at: original, to: store)
    let (seconds, status) = try TestRun.run(
      BuiltProgram.url("MigrationRunner"), [store.path, "--rekey"],
      environment: ["PERSIST_OLD_KEY": "first", "PERSIST_NEW_KEY": "second"], killedAfter: moment)
    if moment == nil { #expect(status == 0) }
    return (store, seconds)
  }
}
