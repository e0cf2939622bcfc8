import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Closing stores", .aboutFiles("the files beside a store"))
struct ClosingTests {
  private let model = Result {
    try ManagedObjectModel { EntityDescription("Item") { AttributeDescription("name", .string) } }
  }

  /// Opens a store, reads it, possibly writes to it, and releases everything without closing it.
  private func use(_ url: URL, writing: Bool) throws {
    let coordinator = try PersistentStoreCoordinator(model: model.get())
    try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    if writing {
      ManagedObject(entity: "Item", context: context)["name"] = "Tea"
      try context.save()
    }
    for item in try context.fetch(FetchRequest("Item")) { #expect(item["name"] as? String == "Tea") }
  }

  @Test("A store that is no longer in use leaves nothing beside its file", arguments: [true, false])
  func noLeftovers(_ writing: Bool) throws {
    try withTemporaryStore { url in
      try use(url, writing: true)
      try use(url, writing: writing)
      let paths = try FolderSnapshot(url.deletingLastPathComponent()).paths
      #expect(paths == [url.lastPathComponent])
    }
  }
}
