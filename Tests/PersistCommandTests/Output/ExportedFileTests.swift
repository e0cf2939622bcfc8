import Foundation
import PersistTestSupport
import Testing

@Suite("Files that commands write")
struct ExportedFileTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  /// A store of the first version, in a folder.
  private func withShop(_ body: (_ folder: URL, _ store: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      try #require(Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "5").status == 0)
      try body(folder, store)
    }
  }

  @Test("A database is replaced by neither a script nor a picture")
  func database() throws {
    try withShop { _, store in
      let before = try Data(contentsOf: URL(fileURLWithPath: store))
      for arguments in [
        ["plan", store, "--models", shop, "--sql", store], ["diagram", shop, "--svg", store],
        ["diff", shop, "--svg", store],
      ] {
        let outcome = try Command.run(arguments)
        #expect(outcome.status == 1 && outcome.messages.contains("is a database"), "\(arguments): \(outcome.messages)")
        try #expect(Data(contentsOf: URL(fileURLWithPath: store)) == before, "\(arguments)")
      }
    }
  }
}
