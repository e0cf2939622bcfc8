import Foundation
import PersistTestSupport
import Testing

@Suite("persist inspect")
struct InspectTests {
  private func entity(_ name: String, in inspected: NSDictionary) throws -> [String: Any] {
    let entities = try #require(inspected["entities"] as? [[String: Any]])
    return try #require(entities.first { $0["name"] as? String == name })
  }

  @Test("A store reports its version, entities and rows, with and without models", .needsSharedData)
  func posts() throws {
    let store = try SharedData.url("posts/CoreDataMigration_Example_1.sqlite").path
    let own = try Command.run("inspect", store, "--json").json()
    let ownStore = try #require(own["store"] as? [String: Any])
    #expect(ownStore["modelFrom"] as? String == "embedded")
    #expect(ownStore["version"] is NSNull)
    let post = try entity("Post", in: own)
    #expect(post["count"] as? Int == 10)
    #expect(post["abstract"] as? Bool == false)
    #expect(post["parent"] is NSNull)
    let names = try #require(post["attributes"] as? [[String: Any]]).compactMap { $0["name"] as? String }
    #expect(names == ["color", "content", "date", "postID"])

    let given = try Command.run("inspect", store, "--json", "--models", SharedData.url("posts/Model").path).json()
    let givenStore = try #require(given["store"] as? [String: Any])
    #expect(givenStore["modelFrom"] as? String == "registry")
    #expect(givenStore["version"] as? String == "CoreDataMigration_Example")
    #expect(given["entities"] as? NSArray == own["entities"] as? NSArray)
  }

  @Test("Flaws of a model embedded in the store are printed only with -v, once", .needsSharedData)
  func notes() throws {
    let store = try SharedData.url("posts/CoreDataMigration_Example_1.sqlite")
    try withTemporaryFolder { folder in
      let copy = folder.appendingPathComponent("a.sqlite")
      try FileManager.default.copyItem(at: store, to: copy)
      #expect(try Command.run("inspect", copy.path).messages == "")
      let messages = try Command.run("inspect", copy.path, "-v").messages.split(separator: "\n")
      #expect(Set(messages).count == messages.count)
    }
  }

  @Test("Every real store's own version is found among its models", .needsSharedData)
  func versions() throws {
    for (store, models, version) in [
      ("posts/CoreDataMigration_Example_2.sqlite", "posts", "CoreDataMigration_Example 2"),
      ("posts/CoreDataMigration_Example_3.sqlite", "posts", "CoreDataMigration_Example 3"),
      ("moody/Moody.moody", "moody", "Moody"), ("moody/Moody 4.moody", "moody", "Moody 4"),
      ("bookmarks/Bookmarks_V1.sqlite", "bookmarks", "BookmarksModel"),
      ("bookmarks/Bookmarks_V4.sqlite", "bookmarks", "BookmarksModel 4"),
    ] {
      let inspected = try Command.run(
        "inspect", SharedData.url(store).path, "--json", "--models", SharedData.url(models).path
      ).json()
      #expect((inspected["store"] as? [String: Any])?["version"] as? String == version, "\(store)")
    }
  }

  @Test("Every real store can be inspected, dumped and checked without changing a byte", .needsSharedData)
  func neverWrites() throws {
    #expect(!SharedData.stores.isEmpty)
    for store in SharedData.stores {
      try withCopy(ofStore: store) { copy in
        let folder = copy.deletingLastPathComponent()
        let before = try FolderSnapshot(folder)
        for arguments in [["inspect", copy.path], ["dump", copy.path], ["check", copy.path]] {
          _ = try Command.run(arguments)
          _ = try Command.run(arguments + ["--json"])
          try #expect(FolderSnapshot(folder) == before, "\(arguments[0]) \(store.lastPathComponent)")
        }
      }
    }
  }
}
