import Foundation
import Persist
import PersistTestSupport
import PersistTesting
import Testing

@Suite("The article on releasing model versions")
final class ReleasingGuideTests {
  private let modelsFolder = PackageFolder.models
  private let goldenFolder = FileManager.default.temporaryDirectory
    .appendingPathComponent("golden-\(UUID().uuidString)")
  private let policies: MigrationPolicies = []

  deinit { try? FileManager.default.removeItem(at: goldenFolder) }

  @Test("Released model versions don't change")
  func released() throws {
    try ModelLock.check(modelsAt: modelsFolder)
  }

  @Test("Stores of every release come to the newest version")
  func releases() throws {
    let registry = try ModelRegistry(contentsOf: modelsFolder)
    let lock = try ModelLock(contentsOf: ModelLock.url(forModelsAt: modelsFolder))
    var stores = GoldenStores(in: goldenFolder, registry: registry, lock: lock)
    stores.migrator = AutomaticMigrator(policies: policies)
    try stores.check { version, context in
      try #expect(context.count(for: FetchRequest("Item")) > 0, "\(version.name)")
    }
  }

  @Test("Every line of code in the article is in these tests")
  func article() throws {
    let (missing, shown) = try ArticleCode.missing(
      from: #filePath, inArticle: "Sources/PersistTesting/PersistTesting.docc/ReleasingModelVersions.md")
    #expect(missing == [])
    #expect(shown > 10)
  }
}
