import Foundation
import PersistTestSupport
import Testing

@Suite("persist versions, version new and merge-versions")
struct VersionsTests {
  private let files = FileManager.default

  private func withShop(_ body: (_ models: String, _ shop: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shop = folder.appendingPathComponent("Shop.xcdatamodeld")
      try files.copyItem(at: PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld"), to: shop)
      try body(folder.path, shop)
    }
  }

  private func change(_ version: String, of shop: URL, _ old: String, _ new: String) throws {
    let contents = shop.appendingPathComponent("\(version).xcdatamodel/contents")
    let text = try String(contentsOf: contents, encoding: .utf8)
    try #require(text.contains(old), "\(old)")
    try Data(text.replacing(old, with: new).utf8).write(to: contents)
  }

  private func versions(_ models: String) throws -> [String: NSDictionary] {
    let outcome = try Command.run("versions", models, "--json")
    #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
    let list = try #require(try outcome.json()["versions"] as? [NSDictionary])
    return Dictionary(uniqueKeysWithValues: list.map { ($0["name"] as? String ?? "", $0) })
  }

  @Test("Versions are listed with parents, identifiers, locks and ways")
  func list() throws {
    try withShop { models, _ in
      _ = try Command.run("lock", models, "--version", "Shop")
      let json = try Command.run("versions", models, "--json").json()
      #expect(json["family"] as? String == "Shop")
      #expect(json["current"] as? String == "Shop 3")
      let versions = try versions(models)
      #expect(versions.count == 3)
      #expect(versions["Shop 2"]?["parents"] as? [String] == ["Shop"])
      #expect(versions["Shop 2"]?["identifiers"] as? [String] == ["2"])
      #expect(versions["Shop 2"]?["locked"] as? Bool == false)
      #expect(versions["Shop"]?["locked"] as? Bool == true)
      #expect(versions["Shop 3"]?["way"] as? String == "none")
      try #expect(Command.run("versions", models).output.contains("current"))
    }
  }

  @Test("A version that can't be read has its problem in words")
  func broken() throws {
    try withShop { models, shop in
      try Data("<model".utf8).write(to: shop.appendingPathComponent("Shop 2.xcdatamodel/contents"))
      let problem = try versions(models)["Shop 2"]?["problem"] as? String
      #expect(problem?.contains("contents") == true)
    }
  }

  @Test("A current version that can't be read remains the current one, to which there is no way")
  func brokenCurrent() throws {
    try withShop { models, shop in
      try Data("<model".utf8).write(to: shop.appendingPathComponent("Shop 3.xcdatamodel/contents"))
      let json = try Command.run("versions", models, "--json").json()
      #expect(json["current"] as? String == "Shop 3")
      let versions = try versions(models)
      #expect(versions["Shop 2"]?["way"] is NSNull)
      #expect(versions["Shop 3"]?["problem"] is String)
      let lines = try Command.run("versions", models).output.split(separator: "\n")
      #expect(lines.filter { $0.contains("current, ") }.count == 1)
      #expect(lines.first { $0.contains("current, ") }?.contains("Shop 3") == true)
    }
  }

  @Test("Real chains have one head and every version", .needsSharedData)
  func realChains() throws {
    var count = 0
    for name in ["posts", "moody", "bookmarks", "employees", "cars", "wallet", "content"] {
      let outcome = try Command.run("versions", SharedData.url(name).path, "--json")
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      for line in try outcome.jsonLines() {
        #expect((line["heads"] as? [String])?.count == 1, "\(name): \(line["heads"] ?? "")")
        count += (line["versions"] as? [Any])?.count ?? 0
      }
    }
    #expect(count > 80)
  }

  @Test("A new version is a copy with the next identifier, and is the current one")
  func newVersion() throws {
    try withShop { models, shop in
      let outcome = try Command.run("version", "new", models, "Shop 4", "--json")
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      try #expect(outcome.json()["parents"] as? [String] == ["Shop 3"])
      let versions = try versions(models)
      #expect(versions["Shop 4"]?["identifiers"] as? [String] == ["4"])
      #expect(versions["Shop 4"]?["parents"] as? [String] == ["Shop 3"])
      #expect(versions["Shop 4"]?["hash"] as? String == versions["Shop 3"]?["hash"] as? String)
      let current = try String(contentsOf: shop.appendingPathComponent(".xccurrentversion"), encoding: .utf8)
      let former = try String(
        contentsOf: PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld/.xccurrentversion"), encoding: .utf8)
      #expect(current == former.replacing("Shop 3", with: "Shop 4"))
      for wrong in ["Shop 4", "shop 4", "a/b", ".x", ""] {
        let before = try FolderSnapshot(shop)
        try #expect(Command.run("version", "new", models, wrong).status == 1, "\(wrong)")
        try #expect(FolderSnapshot(shop) == before)
      }
    }
  }

  @Test("A new version has its parent's identifier if there is no larger number")
  func largestIdentifier() throws {
    try withShop { models, shop in
      let attribute = "userDefinedModelVersionIdentifier"
      try change("Shop 3", of: shop, #"\#(attribute)="3""#, #"\#(attribute)="\#(Int.max)""#)
      let outcome = try Command.run("version", "new", models, "Shop 4")
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      try #expect(versions(models)["Shop 4"]?["identifiers"] as? [String] == ["\(Int.max)"])
    }
  }

  @Test("A model in Persist's own files gets a new file; a name that wouldn't be the newest is refused")
  func ownFiles() throws {
    try withTemporaryFolder { folder in
      let model = #"{"format": 1, "versionIdentifiers": ["1"], "entities": [{"name": "Item"}]}"#
      try Data(model.utf8).write(to: folder.appendingPathComponent("Shop 1.json"))
      try Data(model.replacing("\"1\"", with: "\"2\"").utf8).write(to: folder.appendingPathComponent("Shop 2.json"))
      let outcome = try Command.run("version", "new", folder.path, "Shop 3")
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      try #expect(versions(folder.path)["Shop 3"]?["identifiers"] as? [String] == ["3"])
      let refused = try Command.run("version", "new", folder.path, "Draft")
      #expect(refused.status == 1)
      #expect(refused.messages.contains("current version"))
      #expect(!files.fileExists(atPath: folder.appendingPathComponent("Draft.json").path))
    }
  }

  /// Makes two versions from the third one, as two branches would: one renames an attribute and an entity, the other
  /// changes the attribute and adds references to the entity.
  private func diverge(_ models: String, _ shop: URL) throws {
    _ = try Command.run("version", "new", models, "Shop 4a")
    try change("Shop 4a", of: shop, #"<attribute name="email""#, #"<attribute name="mail" elementID="email""#)
    try change("Shop 4a", of: shop, #"<entity name="Review""#, #"<entity name="Rating" elementID="Review""#)
    for reference in ["destinationEntity", "inverseEntity"] {
      try change("Shop 4a", of: shop, #"\#(reference)="Review""#, #"\#(reference)="Rating""#)
    }
    _ = try Command.run("version", "new", models, "Shop 4b", "--from", "Shop 3")
    try change(
      "Shop 4b", of: shop, #"<attribute name="email" optional="YES" attributeType="String"/>"#,
      """
      <attribute name="email" optional="YES" attributeType="String" maxValueString="30"/>
      <attribute name="phone" optional="YES" attributeType="String"/>
      <relationship name="reviews" optional="YES" toMany="YES" deletionRule="Nullify" destinationEntity="Review" \
      inverseName="author" inverseEntity="Review"/>
      """)
    try change(
      "Shop 4b", of: shop,
      """
      <relationship name="item" maxCount="1" deletionRule="Nullify" destinationEntity="Item" inverseName="reviews"
      """,
      """
      <relationship name="author" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Person" \
      inverseName="reviews" inverseEntity="Person"/>
      <relationship name="item" maxCount="1" deletionRule="Nullify" destinationEntity="Item" inverseName="reviews"
      """)
  }

  @Test("Versions that grew from the same parent in two branches are found, and merged with renames kept")
  func merge() throws {
    try withShop { models, shop in
      try diverge(models, shop)
      let found = try Command.run("versions", models, "--json").json()
      #expect(found["heads"] as? [String] == ["Shop 4a", "Shop 4b"])
      let pair = try #require((found["diverged"] as? [NSDictionary])?.first)
      #expect(pair["parent"] as? String == "Shop 3")
      #expect((pair["firstChanges"] as? [String])?.contains("rename attribute Person.email → mail") == true)
      #expect((pair["secondChanges"] as? [String])?.contains("add attribute Person.phone (string)") == true)
      #expect((pair["conflicts"] as? [Any])?.isEmpty == true)
      let check = try Command.run("lock", models, "--check")
      #expect(check.status == 3)
      #expect(check.messages.contains("'Shop 4a' and 'Shop 4b' both grew from 'Shop 3'"))

      let merged = try Command.run("merge-versions", models, "Shop 5", "--json")
      #expect(merged.status == 0, Comment(rawValue: merged.output + merged.messages))
      let text = try String(contentsOf: shop.appendingPathComponent("Shop 5.xcdatamodel/contents"), encoding: .utf8)
      let mail = try #require(text.split(separator: "\n").first { $0.contains(#"name="mail""#) })
      #expect(mail.contains(#"elementID="email""#) && mail.contains(#"maxValueString="30""#))
      #expect(text.contains(#"name="phone""#) && !text.contains(#"name="email""#))
      #expect(text.contains(#"<entity name="Rating""#) && !text.contains(#"Entity="Review""#))
      let versions = try versions(models)
      #expect(versions["Shop 5"]?["parents"] as? [String] == ["Shop 4a", "Shop 4b"])
      try #expect(Command.run("versions", models, "--json").json()["heads"] as? [String] == ["Shop 5"])
      try #expect(Command.run("lock", models, "--check").status == 0)

      // Stores of all of them arrive, with their values.
      for name in ["Shop 3", "Shop 4a", "Shop 4b"] {
        let store = URL(fileURLWithPath: models).appendingPathComponent("\(name).sqlite")
        _ = try Command.run("fill", store.path, "--models", models, "--version", name, "--rows", "20")
        let column = name == "Shop 4a" ? "mail" : "email"
        let before = try Command.run("fetch", store.path, "Person sort by name", "--csv", "--columns", "name,\(column)")
        let outcome = try Command.run("migrate", store.path, "--models", models)
        #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
        let after = try Command.run("fetch", store.path, "Person sort by name", "--csv", "--columns", "name,mail")
        #expect(before.output.replacing("name,\(column)", with: "name,mail") == after.output)
        #expect(after.output.split(separator: "\n").count >= 20)
      }
    }
  }

  @Test("Conflicts are listed, and nothing is written")
  func conflicts() throws {
    try withShop { models, shop in
      try diverge(models, shop)
      try change("Shop 4b", of: shop, #"<attribute name="email""#, #"<attribute name="address" elementID="email""#)
      try change("Shop 4a", of: shop, #"maxValueString="9999""#, #"maxValueString="99999""#)
      try change("Shop 4b", of: shop, #"maxValueString="9999""#, #"maxValueString="999""#)
      let before = try FolderSnapshot(shop)
      let outcome = try Command.run("merge-versions", models, "Shop 5", "--json")
      #expect(outcome.status == 3)
      let conflicts = try #require(try outcome.json()["conflicts"] as? [NSDictionary])
      #expect(Set(conflicts.compactMap { $0["place"] as? String }).isSuperset(of: ["Person.email", "Item.quantity"]))
      try #expect(FolderSnapshot(shop) == before)
    }
  }

  @Test("Versions that haven't diverged aren't merged")
  func nothingToMerge() throws {
    try withShop { models, _ in
      let outcome = try Command.run("merge-versions", models, "Shop 5")
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains("have diverged"))
    }
  }

  @Test("Old versions are removed, and the rest migrates to the same store")
  func squash() throws {
    try withShop { models, shop in
      _ = try Command.run("lock", models)
      let store = URL(fileURLWithPath: models).appendingPathComponent("a.sqlite")
      let other = URL(fileURLWithPath: models).appendingPathComponent("b.sqlite")
      for url in [store, other] {
        _ = try Command.run("fill", url.path, "--models", models, "--version", "Shop 2", "--rows", "20")
      }
      try #expect(Command.run("migrate", store.path, "--models", models, "--allow-loss").status == 0)
      let before = try FolderSnapshot(shop)
      let shown = try Command.run("lock", models, "--squash", "Shop 2", "--dry-run")
      #expect(shown.output.hasPrefix("would remove  Shop: Shop\n"), Comment(rawValue: shown.messages))
      try #expect(FolderSnapshot(shop) == before)
      let outcome = try Command.run("lock", models, "--squash", "Shop 2", "--json")
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      let removed = try #require(try outcome.json()["removed"] as? [NSDictionary])
      #expect(removed.map { $0["version"] as? String } == ["Shop"])
      let versions = try versions(models)
      #expect(Set(versions.keys) == ["Shop 2", "Shop 3"])
      #expect(versions["Shop 2"]?["parents"] as? [String] == [])
      try #expect(Command.run("lock", models, "--check").status == 0)
      try #expect(Command.run("migrate", other.path, "--models", models, "--allow-loss").status == 0)
      let dumps = try [store, other].map { try Command.run("dump", $0.path, "--json").output }
      #expect(dumps[0] == dumps[1] && !dumps[0].isEmpty)
      for wrong in ["Shop 2", "Shop 9"] { try #expect(Command.run("lock", models, "--squash", wrong).status == 1) }
    }
  }

  @Test("Locks of two branches are combined line by line by git", .enabled(if: VersionsTests.git != nil))
  func mergedLocks() throws {
    try withShop { models, shop in
      _ = try Command.run("lock", models)
      let folder = URL(fileURLWithPath: models)
      let lock = folder.appendingPathComponent("models.lock")
      try files.copyItem(at: lock, to: folder.appendingPathComponent("base"))
      for name in ["Shop 4a", "Shop 4b"] {
        _ = try Command.run("version", "new", models, name, "--from", "Shop 3")
        _ = try Command.run("lock", models)
        try files.moveItem(at: lock, to: folder.appendingPathComponent(name))
        try files.copyItem(at: folder.appendingPathComponent("base"), to: lock)
        let version = shop.appendingPathComponent("\(name).xcdatamodel")
        try files.moveItem(at: version, to: folder.appendingPathComponent("\(name).away"))
      }
      for name in ["Shop 4a", "Shop 4b"] {
        try files.moveItem(
          at: folder.appendingPathComponent("\(name).away"), to: shop.appendingPathComponent("\(name).xcdatamodel"))
      }
      let git = try #require(Self.git)
      let merged = try Command.run(
        ["merge-file", "-p", "--union", "Shop 4a", "base", "Shop 4b"], program: git, in: folder)
      #expect(merged.status == 0)
      try Data(merged.output.utf8).write(to: lock)
      let versions = try versions(models)
      #expect(versions.values.allSatisfy { $0["locked"] as? Bool == true })
      #expect(versions["Shop 4a"]?["parents"] as? [String] == ["Shop 3"])
      #expect(versions["Shop 4b"]?["parents"] as? [String] == ["Shop 3"])
      try #expect(Command.run("lock", models, "--check").status == 3)

      let conflict = try Command.run(["merge-file", "-p", "Shop 4a", "base", "Shop 4b"], program: git, in: folder)
      try Data(conflict.output.utf8).write(to: lock)
      let refused = try Command.run("lock", models, "--check")
      #expect(refused.status == 1)
      #expect(refused.messages.contains("merge=union"))
    }
  }

  private static let git = ["/usr/bin/git", "/usr/local/bin/git"].first(where: FileManager.default.isExecutableFile)
    .map { URL(fileURLWithPath: $0) }
}
