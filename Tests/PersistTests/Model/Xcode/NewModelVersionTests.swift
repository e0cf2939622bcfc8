import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("New versions of models")
struct NewModelVersionTests {
  private func withShop(_ body: (_ shop: URL, _ family: ModelFamily) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shop = folder.appendingPathComponent("Shop.xcdatamodeld")
      try FileManager.default.copyItem(at: PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld"), to: shop)
      try body(shop, ModelRegistry(contentsOf: shop).family(named: "Shop"))
    }
  }

  @Test("A version that can't be made the current one leaves no files")
  func unfinished() throws {
    try withShop { shop, family in
      // No file can replace a folder that isn't empty.
      let current = shop.appendingPathComponent(".xccurrentversion")
      try FileManager.default.removeItem(at: current)
      try FileManager.default.createDirectory(
        at: current.appendingPathComponent("inner"), withIntermediateDirectories: true)
      let new = try NewModelVersion(named: "Shop 4", after: family.current, of: family)
      let error = #expect(throws: PersistenceError.self) { try new.write(after: family.current, of: family) }
      #expect(error?.code == .fileAccess)
      try #expect(FolderSnapshot(shop).paths.filter { $0.contains("Shop 4") } == [])
    }
  }

  @Test("A discarded version leaves the model as it was", arguments: [true, false])
  func discarded(_ namesCurrent: Bool) throws {
    try withShop { shop, family in
      if !namesCurrent { try FileManager.default.removeItem(at: shop.appendingPathComponent(".xccurrentversion")) }
      let before = try FolderSnapshot(shop).entries.mapValues(\.bytes)
      let new = try NewModelVersion(named: "Shop 4", after: family.current, of: family)
      try new.write(after: family.current, of: family)
      try #expect(ModelRegistry(contentsOf: shop).currentVersion.name == "Shop 4")
      try new.discard()
      try #expect(FolderSnapshot(shop).entries.mapValues(\.bytes) == before)
    }
  }
}
