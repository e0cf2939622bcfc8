import Foundation
import PersistTestSupport
import PersistTools
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Randomly damaged stores", .needsSharedData)
struct DamagedStoreTests {
  private static let stores = [
    "posts/CoreDataMigration_Example_3.sqlite", "cars/Fixtures/SampleModel_V2.sqlite", "moody/Moody 2.moody",
    "bookmarks/Bookmarks_V4.sqlite", "employees/Stores/MWKCoreDataTests2.sqlite",
    "notes/NoteStore-macOS-15-Seqoia.sqlite",
  ]

  @Test(
    "Changed bytes cause problems or an error, and no further changes",
    .law("stores-with-changed-bytes", short: 12, long: 600), arguments: stores)
  func bytes(_ store: String) throws {
    try damage(store) { bytes, random in
      for _ in 0..<Int.random(in: 1...24, using: &random) {
        // Every second one is on the first pages, where the schema is.
        let end = Bool.random(using: &random) ? min(bytes.count, 8192) : bytes.count
        bytes[Int.random(in: 0..<end, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
      }
    }
  }

  @Test(
    "A truncated file causes problems or an error",
    .law("stores-cut-short", short: 12, long: 600), arguments: stores)
  func truncation(_ store: String) throws {
    try damage(store) { bytes, random in
      bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
    }
  }

  private func damage(_ store: String, _ change: (inout Data, inout SeededRandom) -> Void) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("employees"))
    forEachSeed { seed in
      try withCopy(ofStore: store) { url in
        var random = SeededRandom(seed: seed)
        var bytes = try Data(contentsOf: url)
        change(&bytes, &random)
        try bytes.write(to: url)
        let before = try FolderSnapshot(url.deletingLastPathComponent())
        do {
          var count = 0
          try StoreCheck.check(storeAt: url, registry: registry) { _ in count += 1 }
        } catch is PersistenceError {}
        #expect(try FolderSnapshot(url.deletingLastPathComponent()) == before)
      }
    }
  }
}
