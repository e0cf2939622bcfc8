import Foundation
import PersistTestSupport
import Testing

@Suite("persist capsule and persist replay")
struct CapsuleTests {
  /// Two versions of a model with one entity, and a store of the first.
  private struct Failing {
    let models: String
    let store: URL
    let capsule: String

    /// - Parameters:
    ///   - attributes: The attributes of both versions.
    ///   - second: The attributes of the second version, and what follows them.
    init(in folder: URL, _ attributes: String, then second: String, objects: [String]) throws {
      let models = folder.appendingPathComponent("Models")
      try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
      func write(_ version: Int, _ item: String) throws {
        let text = #"{"format": 1, "versionIdentifiers": ["\#(version)"], "entities": [{"name": "Person", \#(item)}]}"#
        try Data(text.utf8).write(to: models.appendingPathComponent("People \(version).json"))
      }
      try write(1, #""attributes": [\#(attributes)]"#)
      self.models = models.path
      store = folder.appendingPathComponent("People.sqlite")
      capsule = folder.appendingPathComponent("people.capsule").path
      let lines = folder.appendingPathComponent("people.jsonl")
      try Data(objects.joined(separator: "\n").utf8).write(to: lines)
      let imported = try Command.run("import", store.path, lines.path, "--models", models.path)
      try #require(imported.status == 0, "\(imported.messages)")
      try write(2, second)
    }
  }

  private static let attributes = """
    {"name": "email", "type": "string"}, {"name": "born", "type": "date"}, {"name": "salary", "type": "decimal"}, \
    {"name": "photo", "type": "binary", "externalStorage": true}, {"name": "age", "type": "int16"}
    """

  private func person(_ email: String?, _ number: Int) -> String {
    let email = email.map { "\"\($0)\"" } ?? "null"
    let photo = Data("Photograph of number \(number)".utf8).base64EncodedString()
    return """
      {"entity": "Person", "attributes": {"email": \(email), "born": \(86_400 * 731 * number).25, \
      "salary": "\(54_321 + number * 7).75", "photo": "\(photo)", "age": \(30 + number)}}
      """
  }

  /// Writes a capsule, and expects that it reproduces the failure.
  private func expectReproduction(_ store: URL, _ models: String, _ capsule: String, _ more: [String] = []) throws
    -> NSDictionary
  {
    let before = try Data(contentsOf: store)
    let written = try Command.run(["capsule", store.path, "--models", models, "-o", capsule, "--json"] + more)
    try #require(written.status == 0, "\(written.messages)")
    try #expect(Data(contentsOf: store) == before)
    let replayed = try Command.run("replay", capsule, "--json")
    #expect(replayed.status == 0, "\(replayed.output)")
    let (one, two) = (try written.json(), try replayed.json())
    #expect(two["reproduced"] as? Bool == true)
    #expect(one["failure"] as? NSDictionary == two["failure"] as? NSDictionary)
    return try #require(two["failure"] as? NSDictionary)
  }

  @Test("A uniqueness constraint that rows violate fails again, with noise for every value")
  func unique() throws {
    try withTemporaryFolder { folder in
      let people = ["ada.lovelace@example.org", "charles.babbage@example.org", "ada.lovelace@example.org", nil, nil]
      let failing = try Failing(
        in: folder, Self.attributes,
        then: #""attributes": [\#(Self.attributes)], "uniquenessConstraints": [["email"]]"#,
        objects: people.enumerated().map { person($1, $0 + 1) })
      let failure = try expectReproduction(failing.store, failing.models, failing.capsule)
      #expect(failure["entity"] as? String == "Person")
      let text = try String(contentsOfFile: failing.capsule, encoding: .utf8)
      for part in ["lovelace", "babbage", "example", "54328", "63158400", "UGhvdG9ncmFwaCBvZi"] {
        #expect(!text.contains(part), "\(part)")
      }
      // The essentials remain: nulls, lengths, equality, and the kinds of characters.
      let rows = try text.split(separator: "\n").filter { $0.hasPrefix("[") && $0.contains("@") }
        .map { try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [Any]) }
      let emails = rows.compactMap { $0.compactMap { $0 as? String }.first { $0.contains("@") } }
      #expect(emails.count == 3 && emails[0] == emails[2] && emails[0] != emails[1])
      #expect(emails[0].wholeMatch(of: /[a-z]{3}\.[a-z]{8}@[a-z]{7}\.[a-z]{3}/) != nil)
    }
  }

  @Test("A required value that rows lack fails again, and the replay shows when the cause is mended")
  func required() throws {
    try withTemporaryFolder { folder in
      let failing = try Failing(
        in: folder, Self.attributes,
        then: #""attributes": [\#(Self.attributes), {"name": "code", "type": "string", "optional": false}]"#,
        objects: [person("a@b.c", 1)])
      let failure = try expectReproduction(failing.store, failing.models, failing.capsule)
      #expect(failure["property"] as? String == "code")
      let text = try String(contentsOfFile: failing.capsule, encoding: .utf8)
      let mended = folder.appendingPathComponent("mended.capsule")
      try Data(text.replacing("\"to\": null", with: "\"to\": \"People 1\"").utf8).write(to: mended)
      let replayed = try Command.run("replay", mended.path)
      #expect(replayed.status == 3 && replayed.output.contains("Not reproduced"))
      let kept = folder.appendingPathComponent("kept")
      try #expect(Command.run("replay", failing.capsule, "--keep", kept.path).status == 0)
      try #expect(Command.run("check", kept.appendingPathComponent("Store.sqlite").path).status == 0)
      try #expect(Command.run("replay", failing.capsule, "--keep", kept.path).status == 1)
    }
  }

  @Test(
    "Parked values are noise in columns and tables, and the replayed store has all of them", arguments: [false, true])
  func parked(copies: Bool) throws {
    try withTemporaryFolder { folder in
      let people = ["ada.lovelace@example.org", "charles.babbage@example.org", nil]
      let failing = try Failing(
        in: folder, Self.attributes, then: #""attributes": [{"name": "age", "type": "int16"}]"#,
        objects: people.enumerated().map { person($1, $0 + 1) })
      let migrated = try Command.run(
        ["migrate", failing.store.path, "--models", failing.models, "--allow-loss"] + (copies ? ["--copy"] : []))
      try #require(migrated.status == 0, "\(migrated.messages)")
      func parked(_ store: String) throws -> String { try Command.run("parked", store, "--json").output }
      try #expect(parked(failing.store.path).contains("photo"))
      let third = #"{"format": 1, "versionIdentifiers": ["3"], "entities": [{"name": "Person", "attributes": "#
        + #"[{"name": "age", "type": "int16"}, {"name": "code", "type": "string", "optional": false}]}]}"#
      try Data(third.utf8).write(to: URL(fileURLWithPath: failing.models).appendingPathComponent("People 3.json"))
      let failure = try expectReproduction(failing.store, failing.models, failing.capsule)
      #expect(failure["property"] as? String == "code")
      let text = try String(contentsOfFile: failing.capsule, encoding: .utf8)
      for part in ["lovelace", "babbage", "example", "54328", "63158400", "UGhvdG9ncmFwaCBvZi"] {
        #expect(!text.contains(part), "\(part)")
      }
      let kept = folder.appendingPathComponent("kept")
      try #expect(Command.run("replay", failing.capsule, "--keep", kept.path).status == 0)
      let copy = kept.appendingPathComponent("Store.sqlite").path
      try #expect(parked(copy) == parked(failing.store.path))
      // The returning values are noise, too.
      let back = try Command.run("migrate", copy, "--models", failing.models, "--to", "People 1", "--allow-loss")
      #expect(back.status == 0 && back.output.contains("Restored"), "\(back.messages)")
      try #expect(Command.run("export", copy, folder.appendingPathComponent("x.jsonl").path).status == 0)
      let lines = try String(contentsOf: folder.appendingPathComponent("x.jsonl"), encoding: .utf8)
      #expect(lines.contains("@") && !lines.contains("lovelace"))
    }
  }

  @Test("An absent policy and a faulty mapping model fail again", .needsSharedData)
  func mapping() throws {
    try withTemporaryFolder { folder in
      let capsule = folder.appendingPathComponent("a.capsule").path
      let posts = try SharedData.url("posts")
      let absent = try expectReproduction(
        posts.appendingPathComponent("CoreDataMigration_Example_2.sqlite"), posts.path, capsule)
      #expect((absent["message"] as? String)?.contains("Post2ToPost3MigrationPolicy") == true)

      let moody = folder.appendingPathComponent("moody")
      try FileManager.default.copyItem(at: SharedData.url("moody"), to: moody)
      let file = moody.appendingPathComponent("Moody 3-Moody 4.xcmappingmodel/xcmapping.xml")
      let text = try String(contentsOf: file, encoding: .utf8)
      for path in [moody, file.deletingLastPathComponent(), file] {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path.path)
      }
      try Data(text.replacing(">Mood<", with: ">Nothing<").utf8).write(to: file)
      let faulty = try expectReproduction(
        moody.appendingPathComponent("Moody 3.moody"), moody.path, capsule, ["--to", "Moody 4"])
      #expect((faulty["message"] as? String)?.contains("Nothing") == true)
    }
  }

  @Test("The capsule of a real store contains none of its texts and bytes", .needsSharedData)
  func realStores() throws {
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("Models")
      try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
      // No store matches this model, so that every migration fails.
      let model = #"{"format": 1, "versionIdentifiers": ["1"], "entities": [{"name": "Unrelated"}]}"#
      try Data(model.utf8).write(to: models.appendingPathComponent("Unrelated.json"))
      var searched = 0
      for store in SharedData.stores {
        let dump = try Command.run("dump", store.path, "--json")
        guard dump.status == 0, !dump.output.isEmpty else { continue }
        let name = store.deletingPathExtension().lastPathComponent
        let capsule = folder.appendingPathComponent(name + ".capsule").path
        let written = try Command.run("capsule", store.path, "--models", models.path, "-o", capsule)
        #expect(written.status == 0, "\(store.lastPathComponent): \(written.messages)")
        try #expect(Command.run("replay", capsule).status == 0)
        let text = try String(contentsOfFile: capsule, encoding: .utf8)
        let values = try dump.jsonLines().flatMap { Self.texts($0["attributes"] as Any) }
        for value in Set(values) where value.count >= 8 && value.contains(where: \.isLetter) {
          searched += 1
          #expect(!text.contains(value), "\(store.lastPathComponent): \(value.prefix(60))")
        }
      }
      #expect(searched > 500)
    }
  }

  private static func texts(_ value: Any) -> [String] {
    switch value {
    case let text as String: [text]
    case let values as [String: Any]: values.values.flatMap(texts)
    case let values as [Any]: values.flatMap(texts)
    default: []
    }
  }

  @Test("Definitions of others' tables, columns, indexes, views and triggers lose their texts and comments")
  func definitions() throws {
    try withTemporaryFolder { folder in
      let failing = try Failing(
        in: folder, Self.attributes,
        then: #""attributes": [\#(Self.attributes)], "uniquenessConstraints": [["email"]]"#,
        objects: [person("a@b.c", 1), person("a@b.c", 2)])
      let sql = """
        CREATE INDEX i ON ZPERSON (ZAGE) WHERE ZEMAIL <> 'Secret one';
        ALTER TABLE ZPERSON ADD COLUMN EXTRA TEXT DEFAULT 'Secret''s two';
        CREATE TABLE own (a TEXT DEFAULT "Secret three", b BLOB DEFAULT x'536563726574', CHECK (a <> 'Secret four'));
        CREATE VIEW v AS SELECT ZEMAIL, 'Secret five' AS "Secret six" /* Secret seven */ FROM ZPERSON;
        CREATE TRIGGER t AFTER INSERT ON own -- Secret eight
        WHEN NEW.a LIKE '%Secret nine%' BEGIN UPDATE own SET a = strftime('%Y', 'now') || 'Secret ten'; END;
        """
      let made = try Command.sqlite3(failing.store.path, sql)
      try #require(made.status == 0, "\(made.messages)")
      _ = try expectReproduction(failing.store, failing.models, failing.capsule)
      let text = try String(contentsOfFile: failing.capsule, encoding: .utf8)
      #expect(!text.contains("Secret") && !text.contains("536563726574"))
      #expect(text.contains("strftime('%Y', 'now')"))
      for name in ["EXTRA", "CREATE VIEW v", "CREATE TABLE own", "CREATE TRIGGER t", "CREATE INDEX i"] {
        #expect(text.contains(name))
      }
    }
  }

  @Test("A migration that succeeds has no capsule, and files that aren't capsules are refused")
  func wrongInput() throws {
    try withTemporaryFolder { folder in
      let failing = try Failing(
        in: folder, Self.attributes, then: #""attributes": [\#(Self.attributes), {"name": "x", "type": "string"}]"#,
        objects: [person("a@b.c", 1)])
      let none = try Command.run("capsule", failing.store.path, "--models", failing.models, "-o", failing.capsule)
      #expect(none.status == 1 && none.messages.contains("doesn't fail"))
      let misspelled = try Command.run(
        "capsule", failing.store.path, "--models", failing.models, "-o", failing.capsule, "--to", "People 22")
      #expect(misspelled.status == 1)
      #expect(misspelled.messages.contains("no version 'People 22'"), "\(misspelled.messages)")
      #expect(!FileManager.default.fileExists(atPath: failing.capsule))
      try #expect(Command.run("capsule", failing.store.path, "--models", failing.models).status == 2)

      let header = """
        {"capsule": 1, "settings": {}, "failure": {}}
        """
      let table = header + #"\#n{"table": "a", "columns": ["x"], "sql": "CREATE TABLE a (x)"}\#n"#
      let other = folder.appendingPathComponent("other")
      for content in [
        "", "text", "{}", #"{"capsule": 99}"#, header, header + #"\#n{"model": "../x", "content": ""}"#,
        header + #"\#n{"sql": "ATTACH 'x' AS y"}"#, header + #"\#n{"sql": "DROP TABLE a"}\#n{"end": true}"#,
        header + "\n[1]", table + "[1, 2]",
        table + #"[{"file": "../../x", "count": 1}]"#, table + #"[{"bytes": 99999999999999}]"#,
      ] {
        try Data(content.utf8).write(to: other)
        let outcome = try Command.run("replay", other.path)
        #expect(outcome.status == 1 && outcome.messages.contains("malformedFile"), "\(content): \(outcome.messages)")
      }
      try #expect(Command.run("replay", folder.appendingPathComponent("none").path).status == 1)
    }
  }
}
