import Foundation
import PersistTestSupport
import Testing

@Suite("persist fill")
struct FillTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  @Test(
    "A new store has the requested number of objects of each entity, all valid", arguments: ["Shop", "Shop 2", "3"])
  func newStore(_ version: String) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      let filled = try Command.run("fill", store, "--models", shop, "--version", version, "--rows", "25", "--json")
      #expect(filled.status == 0)
      let inspected = try Command.run("inspect", store, "--models", shop, "--json").json()
      let entities = try #require(inspected["entities"] as? [[String: Any]])
      for entity in entities {
        #expect(entity["count"] as? Int == (entity["abstract"] as? Bool == true ? 0 : 25))
      }
      try #expect(filled.json()["rows"] as? Int == 25 * (entities.count - 1))
      let check = try Command.run("check", store, "--models", shop, "--json")
      #expect(check.output == "{\"ok\": true, \"problems\": []}\n")
      let lines = try Command.run("dump", store, "--json", "--entity", "Line").jsonLines()
      for line in lines {
        let relationships = try #require(line["relationships"] as? [String: Any])
        #expect(relationships["item"] is [String: Any])
        #expect(relationships["order"] is [String: Any])
      }
    }
  }

  @Test("The same seed creates the same objects, another one creates others")
  func seeds() throws {
    try withTemporaryFolder { folder in
      let dumps = try [("a", "7"), ("b", "7"), ("c", "8")].map { name, seed in
        let store = folder.appendingPathComponent("\(name).sqlite").path
        try #expect(Command.run("fill", store, "--models", shop, "--rows", "30", "--seed", seed).status == 0)
        return try Command.run("dump", store, "--json").output
      }
      #expect(dumps[0] == dumps[1])
      #expect(dumps[0] != dumps[2])
    }
  }

  @Test("Objects are added to an existing store, and unique values stay unique")
  func twice() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      for _ in 0..<2 { try #expect(Command.run("fill", store, "--models", shop, "--rows", "10").status == 0) }
      try #expect(Command.run("dump", store, "--json", "--entity", "Tag").jsonLines().count == 20)
      try #expect(Command.run("check", store).status == 0)
    }
  }

  @Test("Too many objects are a usage error, and create no store", arguments: ["9223372036854775807", "1000000001"])
  func tooMany(_ rows: String) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      let outcome = try Command.run("fill", store, "--models", shop, "--rows", rows)
      #expect(outcome.status == 2 && outcome.messages.contains("1000000000"), "\(outcome.messages)")
      try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }
  }

  @Test("A new store that can't be filled is deleted")
  func unfillable() throws {
    try withTemporaryFolder { folder in
      let model = folder.appendingPathComponent("Box.xcdatamodeld/Box.xcdatamodel")
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      let text = """
        <model><entity name="Box"><attribute name="flag" attributeType="Boolean"/><uniquenessConstraints>
        <uniquenessConstraint><constraint value="flag"/></uniquenessConstraint></uniquenessConstraints></entity></model>
        """
      try Data(text.utf8).write(to: model.appendingPathComponent("contents"))
      let store = folder.appendingPathComponent("Box.sqlite").path
      let outcome = try Command.run("fill", store, "--models", folder.path, "--rows", "50")
      #expect(outcome.status == 1 && outcome.messages.contains("Box.flag can't be filled"), "\(outcome.messages)")
      try #expect(FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Box.xcdatamodeld"])
    }
  }

  @Test("A store of another version than the requested one is refused")
  func otherVersion() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "1")
      let outcome = try Command.run("fill", store, "--models", shop, "--version", "Shop 3", "--rows", "1", "--json")
      #expect(outcome.status == 1)
      try #expect((outcome.json()["error"] as? [String: Any])?["code"] as? Int == 134100)
    }
  }

  @Test("Without a version, nothing chooses among several models")
  func severalModels() throws {
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("Models")
      for name in ["Depot", "Shop"] {
        let model = models.appendingPathComponent("\(name).xcdatamodeld/\(name).xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let text = #"<model><entity name="\#(name)"/></model>"#
        try Data(text.utf8).write(to: model.appendingPathComponent("contents"))
      }
      let store = folder.appendingPathComponent("Store.sqlite").path
      let lines = folder.appendingPathComponent("lines.jsonl")
      try Data(#"{"entity": "Shop"}"#.utf8).write(to: lines)
      let other = folder.appendingPathComponent("Other.sqlite").path
      try #require(Command.run("fill", other, "--models", shop, "--rows", "1").status == 0)
      for arguments in [["fill", store, "--rows", "1"], ["import", store, lines.path], ["plan", other]] {
        let outcome = try Command.run(arguments + ["--models", models.path])
        #expect(outcome.status == 1, "\(arguments)")
        #expect(outcome.messages.contains("There are 2 models: Depot, Shop."), "\(arguments): \(outcome.messages)")
        #expect(!FileManager.default.fileExists(atPath: store), "\(arguments)")
      }
      let named = try Command.run("import", store, lines.path, "--models", models.path, "--version", "Shop")
      #expect(named.status == 0, "\(named.messages)")
    }
  }

  @Test("Stores of every real model's newest version are intact", .needsSharedData)
  func realModels() throws {
    for folder in [
      "posts", "moody", "bookmarks", "employees", "cars", "content", "wallet/Storage/SubstrateDataModel.xcdatamodeld",
      "wallet/Storage/UserDataModel.xcdatamodeld",
    ] {
      let models = try SharedData.url(folder).path
      try withTemporaryStore { url in
        let store = storeArgument(url)
        let filled = try Command.run("fill", store, "--models", models, "--rows", "20")
        #expect(filled.status == 0, "\(folder): \(filled.messages)")
        try #expect(Command.run("check", store, "--models", models).output == "ok\n", "\(folder)")
      }
    }
  }
}
