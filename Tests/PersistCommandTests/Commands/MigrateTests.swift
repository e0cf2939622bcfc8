import Foundation
import PersistTestSupport
import Testing

@Suite("persist diff, plan and migrate")
struct MigrateTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  private func operations(_ plan: NSDictionary) throws -> [[String: Any]] {
    try #require(plan["steps"] as? [[String: Any]])
  }

  @Test("The difference of two versions names each operation, its SQL and its losses")
  func diff() throws {
    let diff = try Command.run("diff", shop, "--from", "Shop", "--to", "Shop 3", "--json").json()
    #expect(diff["from"] as? String == "Shop")
    #expect(diff["to"] as? String == "Shop 3")
    #expect(diff["way"] as? String == "inPlace")
    let rename = try #require(try operations(diff).first { $0["operation"] as? String == "renameAttribute" })
    #expect(rename["entity"] as? String == "Item")
    #expect(rename["property"] as? String == "amount")
    #expect(rename["newName"] as? String == "quantity")
    #expect(rename["losesData"] as? Bool == false)
    #expect((rename["sql"] as? [String])?.isEmpty == false)
    let losses = try #require(diff["losses"] as? [[String: Any]])
    #expect(losses.count == 1)
    #expect(losses.first?["property"] as? String == "colour")
    #expect(diff["hops"] == nil)
  }

  @Test("A version has no differences from itself")
  func same() throws {
    let diff = try Command.run("diff", shop, "--from", "Shop 2", "--to", "2", "--json").json()
    #expect(diff["way"] as? String == "none")
    #expect((diff["steps"] as? [Any])?.isEmpty == true)
  }

  @Test("A plan assumes the application's policies if their names are given", .needsSharedData)
  func policies() throws {
    let store = try SharedData.url("posts/CoreDataMigration_Example_2.sqlite").path
    let models = try SharedData.url("posts").path
    let call = ["plan", store, "--models", models, "--to", "CoreDataMigration_Example 3", "--json"]
    let without = try Command.run(call)
    #expect(without.status != 0 && (without.output + without.messages).contains("Post2ToPost3MigrationPolicy"))
    let with = try Command.run(call + ["--policies", "Other, Post2ToPost3MigrationPolicy"])
    #expect(with.status == 0)
    try #expect(with.json()["way"] as? String == "copy")
  }

  @Test("An unknown version fails with the names of the existing ones")
  func noVersion() throws {
    let outcome = try Command.run("diff", shop, "--to", "Shop 9", "--json")
    #expect(outcome.status == 1)
    let error = try #require(try outcome.json()["error"] as? [String: Any])
    #expect(error["name"] as? String == "modelNotFound")
    #expect((error["fix"] as? String)?.contains("'Shop 2'") == true)
  }

  @Test("A filled store migrates to the newest version: planned without writing, refused for its loss, then migrated")
  func wholeWay() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      let backup = folder.appendingPathComponent("Before.sqlite").path
      try #expect(Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "40").status == 0)
      let before = try Command.run("dump", store, "--json").output
      let untouched = try FolderSnapshot(folder)

      let plan = try Command.run("plan", store, "--models", shop, "--json")
      #expect(plan.status == 0)
      try #expect(plan.json()["rows"] as? Int == 280)
      try #expect(plan.json()["bytes"] is Int)
      try #expect(plan.json()["extraBytes"] is Int)
      let losses = try #require(try plan.json()["losses"] as? [[String: Any]])
      #expect((losses.first?["rows"] as? Int ?? 0) > 0)
      try #expect(FolderSnapshot(folder) == untouched)

      let refused = try Command.run("migrate", store, "--models", shop, "--json")
      #expect(refused.status == 1)
      #expect(refused.messages.contains("colour"))
      try #expect(Command.run("dump", store, "--json").output == before)

      let done = try Command.run("migrate", store, "--models", shop, "--allow-loss", "--backup", backup, "--json")
      #expect(done.status == 0)
      let report = try done.json()
      #expect(report["from"] as? String == "Shop")
      #expect(report["to"] as? String == "Shop 3")
      #expect(report["hops"] as? Int == 1)
      #expect(report["rows"] as? Int == 280)
      #expect(report["way"] as? String == "inPlace")
      #expect(report["backup"] as? String == backup)
      #expect(report["seconds"] is Double)

      try #expect(Command.run("check", store, "--models", shop).status == 0)
      try #expect(Command.run("check", store).status == 0)
      let inspected = try Command.run("inspect", store, "--models", shop, "--json").json()
      let told = try #require(inspected["store"] as? [String: Any])
      #expect(told["version"] as? String == "Shop 3")
      #expect(told["modelFrom"] as? String == "fingerprint")
      try #expect(Command.run("dump", backup, "--json").output == before)
      try sameValues(before: before, after: Command.run("dump", store, "--json"))
    }
  }

  /// Checks that every object has the values in both versions, under their names in the newest one.
  private func sameValues(before: String, after: Command.Outcome) throws {
    let renamed = ["Label": "Tag", "amount": "quantity", "labels": "tags"]
    let old = try before.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    func key(_ object: [String: Any]) -> String {
      let entity = object["entity"] as? String ?? ""
      return "\(renamed[entity] ?? entity) \(object["pk"] ?? "")"
    }
    let new = try Dictionary(
      uniqueKeysWithValues: after.jsonLines().compactMap { $0 as? [String: Any] }.map { (key($0), $0) })
    #expect(new.count == old.count)
    for object in old {
      let found = try #require(new[key(object)])
      let attributes = try #require(found["attributes"] as? [String: NSObject])
      for (name, value) in try #require(object["attributes"] as? [String: NSObject]) where name != "colour" {
        // The newest version requires a price and has a default for it.
        let expected = name == "price" && value is NSNull ? "0" as NSString : value
        #expect(attributes[renamed[name] ?? name] == expected, "\(key(object)).\(name)")
      }
      let relationships = try #require(found["relationships"] as? [String: Any])
      for (name, value) in try #require(object["relationships"] as? [String: Any]) {
        func keys(_ others: Any?) -> [String] {
          (others as? [[String: Any]] ?? [others as? [String: Any]].compactMap { $0 }).map(key)
        }
        #expect(keys(relationships[renamed[name] ?? name]) == keys(value), "\(key(object)).\(name)")
      }
    }
  }

  @Test("A store that already has the version is unchanged")
  func nothingToDo() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try Command.run("fill", store, "--models", shop, "--rows", "2")
      let before = try FolderSnapshot(folder)
      let outcome = try Command.run("migrate", store, "--models", shop, "--json")
      #expect(outcome.status == 0)
      try #expect(outcome.json()["way"] as? String == "none")
      try #expect(outcome.json()["hops"] as? Int == 0)
      try #expect(FolderSnapshot(folder).entries["Shop.sqlite"]?.bytes == before.entries["Shop.sqlite"]?.bytes)
    }
  }

  @Test("A backup never replaces another file")
  func backupInTheWay() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      let backup = folder.appendingPathComponent("Letters.txt")
      try Data("Dear".utf8).write(to: backup)
      _ = try Command.run("fill", store, "--models", shop, "--version", "Shop", "--rows", "2")
      let before = try FolderSnapshot(folder)
      let outcome = try Command.run(
        "migrate", store, "--models", shop, "--allow-loss", "--backup", backup.path)
      #expect(outcome.status == 1)
      try #expect(FolderSnapshot(folder) == before)
    }
  }

  @Test("A real store is migrated with all values kept", .needsSharedData)
  func posts() throws {
    let models = try SharedData.url("posts").path
    try withCopy(ofStore: "posts/CoreDataMigration_Example_1.sqlite") { store in
      let outcome = try Command.run(
        "migrate", store.path, "--models", models, "--to", "CoreDataMigration_Example 2", "--json")
      #expect(outcome.status == 0)
      let posts = try Command.run("dump", store.path, "--json").jsonLines().compactMap {
        $0["attributes"] as? [String: Any]
      }
      #expect(posts.count == 10)
      let first = try #require(posts.max { ($0["postID"] as? String ?? "") < ($1["postID"] as? String ?? "") })
      #expect(first["hexColor"] as? String == "1BB732")
      #expect(first["color"] == nil)
      #expect(first["content"] as? String == "Test body")
      #expect(first["date"] as? Double == 1_547_494_150.058821 - 978_307_200)
      try #expect(Command.run("check", store.path, "--models", models).status == 0)
    }
  }

  @Test("--copy migrates through a new file and produces the same store", .needsSharedData)
  func copy() throws {
    let models = try SharedData.url("moody/Moody.xcdatamodeld").path
    var dumps: [String] = []
    for flags in [[], ["--copy"]] {
      try withCopy(ofStore: "moody/Moody.moody") { store in
        let outcome = try Command.run(
          ["migrate", store.path, "--models", models, "--to", "Moody 2", "--json"] + flags)
        #expect(outcome.status == 0)
        try #expect(outcome.json()["way"] as? String == (flags.isEmpty ? "inPlace" : "copy"))
        dumps.append(try Command.run("dump", store.path, "--json").output)
        try #expect(Command.run("check", store.path, "--models", models).status == 0)
      }
    }
    #expect(dumps[0] == dumps[1])
  }

  @Test("--prove compares all values in both ways, and reports how many", .needsSharedData)
  func prove() throws {
    let models = try SharedData.url("moody/Moody.xcdatamodeld").path
    try withCopy(ofStore: "moody/Moody.moody") { store in
      let count = try Command.run("dump", store.path, "--json").jsonLines().count
      let outcome = try Command.run("migrate", store.path, "--models", models, "--to", "Moody 2", "--prove", "--json")
      #expect(outcome.status == 0)
      try #expect(outcome.json()["way"] as? String == "inPlace")
      let proof = try #require(try outcome.json()["proof"] as? [String: Int])
      #expect(proof["objects"] == count && (proof["values"] ?? 0) > count)
      try #expect(Command.run("check", store.path, "--models", models).status == 0)
      try #expect(FolderSnapshot(store.deletingLastPathComponent()).entries.keys.allSatisfy { !$0.contains("migration") })
    }
    try #expect(Command.run("migrate", "a.sqlite", "--models", models, "--prove", "--copy").status == 2)
  }

  @Test("An obstacle ends a plan with 3, a migration with 1, and the store is unchanged", .needsSharedData)
  func blocked() throws {
    let models = try SharedData.url("posts").path
    try withCopy(ofStore: "posts/CoreDataMigration_Example_2.sqlite") { store in
      let before = try FolderSnapshot(store.deletingLastPathComponent())
      let plan = try Command.run("plan", store.path, "--models", models, "--json")
      #expect(plan.status == 3)
      try #expect(plan.json()["way"] as? String == "impossible")
      try #expect((plan.json()["blockers"] as? [Any])?.isEmpty == false)
      let migration = try Command.run("migrate", store.path, "--models", models, "--json")
      #expect(migration.status == 1)
      try #expect((migration.json()["error"] as? [String: Any])?["code"] as? Int == 134140)
      try #expect(FolderSnapshot(store.deletingLastPathComponent()) == before)
    }
  }
}
