import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Encrypted stores in several processes", .serialized, .needsEncryption, .onOwnThread)
struct EncryptedProcessTests {
  private static func digits(_ name: String) -> String {
    TestKey.bytes(of: name).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  /// A process that opens the store with a key, again and again, until it is told to stop.
  private struct Watcher {
    let process = TestRun.newProcess()
    let output = Pipe()
    let stop: URL

    init(_ store: URL, key: String, beside folder: URL) throws {
      stop = folder.appendingPathComponent(UUID().uuidString)
      process.executableURL = try BuiltProgram.url("SQLRunner")
      process.arguments = [
        store.path, "--watch", stop.path, "SELECT COUNT(*) || ' ' || MIN(ZTITLE) || ' ' || MAX(ZTITLE) FROM ZNOTE",
      ]
      process.environment?["PERSIST_TEST_KEY"] = EncryptedProcessTests.digits(key)
      process.standardOutput = output
      try process.run()
      _ = try output.fileHandleForReading.read(upToCount: 6)
    }

    /// The different outcomes, without those of a store that is being changed.
    func outcomes() throws -> Set<String> {
      try Data().write(to: stop)
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      return Set(text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("error 5") })
    }
  }

  @Test("While a store gets another key, each process reads all of it with its key, or nothing")
  func changingKeys() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      var options = Notes.options()
      // A reader that comes between two steps would keep a log from being removed.
      options.pragmas["journal_mode"] = "DELETE"
      try Notes.make(url, options, count: 60)
      let (old, new) = (try Watcher(url, key: "first", beside: folder), try Watcher(url, key: "second", beside: folder))
      let deadline = ContinuousClock.now.advanced(by: .seconds(120))
      var tries = 0
      while true {
        tries += 1
        do {
          try StoreLocation.file(url).changeKey(from: Notes.key, to: Notes.otherKey)
          break
        } catch let error as PersistenceError where error.code == .storeBusy && ContinuousClock.now < deadline {
          continue
        }
      }
      let (seenByOld, seenByNew) = (try old.outcomes(), try new.outcomes())
      let all = "60 SECRETTEXT0 SECRETTEXT9"
      let refusal = "error 26: file is not a database"
      #expect(seenByOld.isSubset(of: [all, refusal]), "after \(tries) tries")
      #expect(seenByNew.isSubset(of: [all, refusal]), "after \(tries) tries")
      #expect(try Notes.titles(url, Notes.options(Notes.otherKey)) == Notes.names(60))
      let error = #expect(throws: PersistenceError.self) { try Notes.titles(url) }
      #expect(error?.code == .wrongKey)
      #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [])
    }
  }

  @Test("Two processes with one key write to a store at the same time, and others with another key change nothing")
  func sharedStore() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try Notes.make(url)
      let coordinator = PersistentStoreCoordinator(model: try #require(Notes.v1))
      let store = try coordinator.addStore(at: url, options: Notes.options())
      let context = ManagedObjectContext(coordinator)
      for number in 0..<5 {
        let update = "UPDATE ZNOTE SET ZTITLE = 'SECRETTEXT by another', Z_OPT = Z_OPT + 1 WHERE Z_PK = "
        #expect(try run(update + "\(number + 1)", on: url, key: "first") == 0)
        #expect(try run("DELETE FROM ZNOTE", on: url, key: "second") == 4)
        let note = try context.create("Note")
        note["title"] = "SECRETTEXT of this one"
        try context.save()
      }
      context.reset()
      let titles = try context.fetch(FetchRequest("Note")).map { $0["title"] as? String }
      #expect(titles.filter { $0 == "SECRETTEXT by another" }.count == 5)
      #expect(titles.filter { $0 == "SECRETTEXT of this one" }.count == 5)
      #expect(titles.count == 25)
      try coordinator.remove(store)
      // Only now: reading a file of an open database would release its locks.
      #expect(try LegibleParts.find(in: folder, texts: Notes.texts) == [])
    }
  }

  private func run(_ sql: String, on url: URL, key: String) throws -> Int32 {
    let process = TestRun.newProcess()
    process.executableURL = try BuiltProgram.url("SQLRunner")
    process.arguments = [url.path, sql]
    process.environment?["PERSIST_TEST_KEY"] = Self.digits(key)
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return process.terminationStatus
  }

  @Test(
    "Damage anywhere in an encrypted store is an error that names it, never rows that were not written",
    .law("damaged-encrypted-stores", short: 30, long: 2000))
  func damage() throws {
    try withTemporaryFolder { folder in
      let original = folder.appendingPathComponent("Original.sqlite")
      try Notes.make(original, count: 40, picture: 5000)
      let content = try Data(contentsOf: original)
      let url = folder.appendingPathComponent("Store.sqlite")
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        var damaged = content
        let place = Int.random(in: 0..<content.count, using: &random)
        let isShort = seed % 5 == 0
        if isShort { damaged = damaged.prefix(place) } else {
          let end = min(place + Int.random(in: 1...64, using: &random), damaged.count)
          for byte in place..<end { damaged[byte] ^= 0x55 }
        }
        for companion in SQLiteFileName.companions(of: url) { try? FileManager.default.removeItem(at: companion) }
        try damaged.write(to: url)
        do {
          // Free pages contain nothing that is read.
          #expect(try Notes.titles(url) == Notes.names(40))
        } catch let error as PersistenceError {
          let isFirstPage = !isShort && place < 4096
          let expected: [PersistenceError.Code] = isFirstPage || damaged.isEmpty || isShort
            ? [.wrongKey, .storeDamaged] : [.storeDamaged]
          #expect(expected.contains(error.code), "\(isShort ? "cut" : "damaged") at \(place): \(error)")
          #expect(!"\(error)".contains("SECRET"))
        }
      }
    }
  }
}
