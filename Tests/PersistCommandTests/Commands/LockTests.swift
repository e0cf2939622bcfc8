import Foundation
import PersistTestSupport
import Testing

@Suite("persist lock")
struct LockTests {
  private func withShop(_ body: (_ models: String, _ shop: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shop = folder.appendingPathComponent("Shop.xcdatamodeld")
      try FileManager.default.copyItem(at: PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld"), to: shop)
      try body(folder.path, shop)
    }
  }

  @Test("Versions are locked at a release; a change ends with 3 and writes nothing, until the version is unlocked")
  func wholeWay() throws {
    try withShop { models, shop in
      try #expect(Command.run("lock", models, "--check").status == 1)
      let first = try Command.run("lock", models, "--version", "Shop", "--json").json()
      #expect((first["added"] as? [NSDictionary])?.compactMap { $0["version"] as? String } == ["Shop"])
      try #expect(Command.run("lock", models).output.contains("locked    Shop: Shop 2\n"))
      try #expect(Command.run("lock", models, "--check").status == 0)

      let contents = shop.appendingPathComponent("Shop 2.xcdatamodel/contents")
      let text = try String(contentsOf: contents, encoding: .utf8)
      try Data(text.replacing("attributeType=\"Integer 32\"", with: "attributeType=\"Integer 64\"").utf8)
        .write(to: contents)
      let before = try FolderSnapshot(shop.deletingLastPathComponent())
      for arguments in [["lock", models], ["lock", shop.path], ["lock", models, "--check"]] {
        let outcome = try Command.run(arguments + ["--json"])
        #expect(outcome.status == 3)
        #expect(outcome.messages.contains(".xccurrentversion"))
        let changes = try #require(try outcome.json()["changes"] as? [NSDictionary])
        #expect(changes.map { $0["version"] as? String } == ["Shop 2"])
      }
      try #expect(FolderSnapshot(shop.deletingLastPathComponent()) == before)
      try #expect(Command.run("lock", models, "--unlock", "Shop 2").status == 0)
      try #expect(Command.run("lock", models).status == 0)
      try #expect(Command.run("lock", models, "--unlock", "Shop 9").status == 1)
    }
  }

  @Test("A version inside a model is refused, because the lock belongs to the model")
  func oneVersion() throws {
    try withShop { _, shop in
      let before = try FolderSnapshot(shop.deletingLastPathComponent())
      for name in ["Shop 3.xcdatamodel", "Shop 3.xcdatamodel/contents"] {
        let version = shop.appendingPathComponent(name).path
        for arguments in [
          ["version", "new", version, "Shop 4"], ["lock", version], ["merge-versions", version, "Shop 4"],
        ] {
          let outcome = try Command.run(arguments)
          #expect(outcome.status == 1, "\(arguments)")
          #expect(outcome.messages.contains("Name the model"), "\(arguments): \(outcome.messages)")
        }
      }
      try #expect(FolderSnapshot(shop.deletingLastPathComponent()) == before)
    }
  }
}
