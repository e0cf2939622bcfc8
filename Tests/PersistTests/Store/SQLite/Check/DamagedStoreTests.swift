import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Stores damaged at random", .needsSharedData)
struct DamagedStoreTests {
  /// Runs of each kind for each store; `PERSIST_LONG_TESTS=1` makes them many.
  private static let runs = ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] == nil ? 12 : 600

  private static let stores = [
    "posts/CoreDataMigration_Example_3.sqlite", "cars/Fixtures/SampleModel_V2.sqlite", "moody/Moody 2.moody",
    "bookmarks/Bookmarks_V4.sqlite", "employees/Stores/MWKCoreDataTests2.sqlite",
    "notes/NoteStore-macOS-15-Seqoia.sqlite",
  ]

  @Test("Changed bytes give problems or an error, and change nothing further", arguments: stores)
  func bytes(_ store: String) throws {
    try damage(store) { bytes, random in
      for _ in 0..<Int.random(in: 1...24, using: &random) {
        // Every other one falls on the first pages, where the schema is.
        let end = Bool.random(using: &random) ? min(bytes.count, 8192) : bytes.count
        bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
    }
  }

  @Test("A file that ends too early gives problems or an error", arguments: stores)
  func truncation(_ store: String) throws {
    try damage(store) { bytes, random in
      bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
    }
  }

  private func damage(_ store: String, _ change: (inout Data, inout SeededRandom) -> Void) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("employees"))
    for run in 0..<Self.runs {
      try withCopy(ofStore: store) { url in
        var random = SeededRandom(seed: UInt64(run + 1))
        var bytes = try Data(contentsOf: url)
        change(&bytes, &random)
        try bytes.write(to: url)
        let before = try FolderSnapshot(url.deletingLastPathComponent())
        do {
          var count = 0
          try StoreCheck.check(storeAt: url, registry: registry) { _ in count += 1 }
        } catch is PersistError {}
        #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before, "run \(run)")
      }
    }
  }
}
