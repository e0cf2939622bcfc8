import LinkedSQLite
import Foundation
import PersistTestSupport
import Testing

@Suite("persist export and persist import")
struct ExchangeTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  /// Creates a store with a few objects of each entity of the shop, and a folder for files.
  private func withShop(_ body: (_ folder: URL, _ store: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite")
      try #expect(Command.run("fill", store.path, "--models", shop, "--rows", "40", "--seed", "7").status == 0)
      try body(folder, store)
    }
  }

  private func dump(_ store: URL, models: String? = nil) throws -> String {
    let outcome = try Command.run(["dump", store.path, "--json"] + (models.map { ["--models", $0] } ?? []))
    #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
    return outcome.output
  }

  /// Deletes all objects of a store, so that it can be filled with others of the same model. Its triggers would need
  /// functions that only a store's own connections have; they are dropped meanwhile.
  private func empty(_ store: URL) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close_v2(handle) }
    try #require(sqlite3_open(store.path, &handle) == SQLITE_OK)
    TestKey.unlock(handle)
    func texts(_ sql: String) throws -> [String] {
      var statement: OpaquePointer?
      defer { sqlite3_finalize(statement) }
      try #require(sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK)
      var texts: [String] = []
      while sqlite3_step(statement) == SQLITE_ROW { texts.append(String(cString: sqlite3_column_text(statement, 0))) }
      return texts
    }
    let triggers = try texts("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
    let drops = try texts("SELECT 'DROP TRIGGER \"' || name || '\"' FROM sqlite_schema WHERE type = 'trigger'")
    let deletions = try texts(
      """
      SELECT 'DELETE FROM "' || name || '"' FROM sqlite_schema WHERE type = 'table' AND name LIKE 'Z%' \
      AND name NOT IN ('Z_METADATA', 'Z_MODELCACHE', 'Z_PRIMARYKEY')
      """)
    for sql in drops + deletions + triggers {
      try #require(sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK, "\(sql)")
    }
  }

  @Test("A store that is made from another's export equals it", arguments: ["all.jsonl", "lines/", "tables/"])
  func roundTrip(_ name: String) throws {
    try withShop { folder, store in
      let files = folder.path + "/" + name
      let format = name.hasPrefix("tables") ? "--csv" : "--json"
      let exported = try Command.run("export", store.path, files, format)
      #expect(exported.status == 0)
      #expect(exported.output.isEmpty)
      let copy = folder.appendingPathComponent("Copy.sqlite")
      let imported = try Command.run("import", copy.path, files, "--models", shop, "--json")
      #expect(imported.status == 0, Comment(rawValue: imported.messages))
      let all = try dump(store)
      try #expect(dump(copy) == all)
      try #expect(imported.json()["rows"] as? Int == all.split(separator: "\n").count)
      try #expect(imported.json()["created"] as? Bool == true)
      try #expect(Command.run("check", copy.path).output == "ok\n")
    }
  }

  @Test("Standard output and input, and files with any name, contain JSON lines, or CSV of one entity")
  func pipes() throws {
    try withShop { folder, store in
      let key = Command.keyWords
      let script = """
        "$0" export "$1" - \(key) | "$0" import "$2" - --models "$3" \(key) &&
        "$0" export "$1" all.txt --json \(key) && "$0" import "$2.2" all.txt --models "$3" \(key) &&
        printf 'name,price\\nPiped,1\\n' | "$0" import "$2.2" - --entity Item \(key)
        """
      let copy = folder.appendingPathComponent("Copy.sqlite")
      let outcome = try Command.run(
        ["-c", script, BuiltProgram.url("persist").path, store.path, copy.path, shop],
        program: URL(fileURLWithPath: "/bin/sh"), in: folder)
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      let all = try dump(store)
      try #expect(dump(copy) == all)
      let other = try dump(folder.appendingPathComponent("Copy.sqlite.2")).split(separator: "\n")
      #expect(other.filter { !$0.contains("Piped") } == all.split(separator: "\n"))
      #expect(other.contains { $0.contains("Piped") })
      let table = try Command.run("export", store.path, "-", "--csv", "--entity", "Item")
      #expect(table.status == 0 && table.output.hasPrefix("pk,"), Comment(rawValue: table.messages))
      try #expect(Command.run("export", store.path, "-", "--csv").status == 2)
      #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("-").path))
    }
  }

  @Test("Every real store whose model opens equals the store that is made from its export", .needsSharedData)
  func realStores() throws {
    var tried = 0
    for store in SharedData.stores {
      let isOpenable = try Command.run("inspect", store.path).status == 0
      guard isOpenable else { continue }
      for (name, format) in [("all.jsonl", "--json"), ("tables", "--csv")] {
        try withTemporaryFolder { folder in
          // Its own file, without objects, is the store of the same model.
          let copy = folder.appendingPathComponent("Copy.sqlite")
          for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
            try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
          }
          try empty(copy)
          try #expect(dump(copy).isEmpty)
          let files = folder.appendingPathComponent(name)
          let exported = try Command.run("export", store.path, files.path, format)
          #expect(exported.status == 0, Comment(rawValue: exported.messages))
          let imported = try Command.run("import", copy.path, files.path)
          #expect(imported.status == 0, "\(store.lastPathComponent): \(imported.messages)")
          try #expect(dump(copy) == dump(store), "\(store.lastPathComponent) \(format)")
        }
      }
      tried += 1
    }
    #expect(tried >= 14)
  }

  @Test("Wrong input changes nothing, and names file, line and reason", arguments: [
    (#"{"entity": "Item", "pk": 900, "attributes": {"name": "Tea", "price": "x"}}"#, "price"),
    (#"{"entity": "Item", "pk": 900, "attributes": {"colour": 3}}"#, "no attribute 'colour'"),
    (#"{"entity": "Thing", "pk": 900}"#, "no entity 'Thing'"),
    (#"{"entity": "Item", "pk": 900, "attributes": {"name": "Tea"}, "attributes": {}}"#, "twice"),
    (#"{"entity": "Item", "pk": 900, "attributes": {"name": "Tea"}"#, "isn't JSON"),
    (#"{"entity": "Item", "pk": 0}"#, "above 0"),
    (#"{"entity": "Item", "pk": 1, "attributes": {"name": "Tea"}}"#, "already"),
    (#"{"entity": "Item", "pk": 900, "attributes": {"name": null}}"#, "required"),
    (
      #"{"entity": "Line", "pk": 900, "relationships": {"item": {"entity": "Item", "pk": 99999}, "#
        + #""order": {"entity": "Order", "pk": 1}}}"#, "doesn't exist"
    ),
    (#"{"entity": "Line", "pk": 900, "relationships": {"item": {"entity": "Order", "pk": 1}}}"#, "can't lead"),
  ])
  func wrongInput(_ wrong: (line: String, words: String)) throws {
    try withShop { folder, store in
      let file = folder.appendingPathComponent("wrong.jsonl")
      let right = #"{"entity": "Item", "pk": 800, "attributes": {"name": "Right"}}"#
      try Data("\(right)\n\(wrong.line)\n".utf8).write(to: file)
      let before = try dump(store)
      let outcome = try Command.run("import", store.path, file.path, "--json")
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains(wrong.words), Comment(rawValue: outcome.messages))
      #expect(outcome.messages.contains("wrong.jsonl:2"), Comment(rawValue: outcome.messages))
      try #expect(dump(store) == before)

      let new = folder.appendingPathComponent("New.sqlite")
      let created = try Command.run("import", new.path, file.path, "--models", shop)
      if wrong.words != "already" {
        #expect(created.status == 1)
        #expect(!FileManager.default.fileExists(atPath: new.path))
      }
    }
  }

  @Test("Errors about objects that get their keys during the import name the file and line", arguments: [
    (#"{"entity": "Tag", "attributes": {"text": "a"}}"#, "unique"),
    (#"{"entity": "Tag", "attributes": {"text": null}}"#, "required"),
    (#"{"entity": "Item", "attributes": {"name": "Tea"}}"#, "uses up the keys"),
  ])
  func newKeys(_ wrong: (line: String, words: String)) throws {
    try withShop { folder, store in
      let files = folder.appendingPathComponent("files")
      try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
      let first = [
        #"{"entity": "Item", "pk": 9223372036854775807, "attributes": {"name": "Last"}}"#,
        #"{"entity": "Tag", "attributes": {"text": "a"}}"#,
      ]
      try Data(first.joined(separator: "\n").utf8).write(to: files.appendingPathComponent("a.jsonl"))
      try Data("\n\n\(wrong.line)\n".utf8).write(to: files.appendingPathComponent("b.jsonl"))
      let before = try dump(store)
      let outcome = try Command.run("import", store.path, files.path)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains(wrong.words), Comment(rawValue: outcome.messages))
      #expect(outcome.messages.contains("b.jsonl:3"), Comment(rawValue: outcome.messages))
      #expect(!outcome.messages.contains("row "), Comment(rawValue: outcome.messages))
      try #expect(dump(store) == before)
    }
  }

  @Test("Ends of a relationship that disagree are refused")
  func disagreement() throws {
    try withShop { folder, store in
      let file = folder.appendingPathComponent("all.jsonl")
      _ = try Command.run("export", store.path, file.path)
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
      let copy = folder.appendingPathComponent("Copy.sqlite")
      var tried = 0
      for (index, line) in lines.enumerated() {
        // Removes the last member of a to-many relationship.
        guard let match = line.firstMatch(of: /, \{"entity": "[A-Za-z]+", "pk": [0-9]+\}\]/) else { continue }
        var changed = lines
        changed[index].replaceSubrange(match.range, with: "]")
        try Data(changed.joined(separator: "\n").utf8).write(to: file)
        let outcome = try Command.run("import", copy.path, file.path, "--models", shop)
        #expect(outcome.status == 1, "Line \(index + 1) was accepted.")
        #expect(outcome.messages.contains("doesn't list it"), Comment(rawValue: outcome.messages))
        tried += 1
        if tried == 5 { break }
      }
      #expect(tried == 5)
    }
  }

  @Test("Properties named as the columns of an export are exported and imported, in each format", arguments: [
    ("all.jsonl", "--json"), ("tables/", "--csv"),
  ])
  func columnNames(_ name: String, _ format: String) throws {
    try withTemporaryFolder { folder in
      let model = folder.appendingPathComponent("M.xcdatamodel")
      try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
      let attributes = ["pk", "_pk", "entity", "attributes", "relationships", "id"].map {
        "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>"
      }.joined()
      let contents = """
        <?xml version="1.0" encoding="UTF-8"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
        <entity name="T">\(attributes)</entity><entity name="U">
        <attribute name="price" optional="YES" attributeType="Decimal"/>
        <relationship name="pk" optional="YES" maxCount="1" destinationEntity="T"/></entity></model>
        """
      try Data(contents.utf8).write(to: model.appendingPathComponent("contents"))
      let store = folder.appendingPathComponent("A.sqlite")
      try #expect(Command.run("fill", store.path, "--models", model.path, "--rows", "9").status == 0)
      let files = folder.path + "/" + name
      try #expect(Command.run("export", store.path, files, format).status == 0)
      let copy = folder.appendingPathComponent("B.sqlite")
      let imported = try Command.run("import", copy.path, files, "--models", model.path)
      #expect(imported.status == 0, "\(imported.messages)")
      try #expect(dump(copy) == dump(store))
    }
  }

  @Test("Tables without keys get new ones, and null differs from an empty text")
  func tables() throws {
    try withShop { folder, store in
      let file = folder.appendingPathComponent("new.csv")
      try Data("\u{FEFF}name,price\r\n\"a, \"\"b\"\"\nc\",1.50\r\n\"\",2\r\n".utf8).write(to: file)
      let count = try Command.run("count", store.path, "Item").output
      let refused = try Command.run("import", store.path, file.path)
      #expect(refused.status == 1)
      #expect(refused.messages.contains("--entity"))
      let outcome = try Command.run("import", store.path, file.path, "--entity", "Item")
      #expect(outcome.status == 0, Comment(rawValue: outcome.messages))
      let found = try Command.run(
        "fetch", store.path, #"Item where name == "" or name contains ",""#, "--json", "--columns", "name,price")
      let objects = try found.jsonLines()
      #expect(Set(objects.compactMap { $0["name"] as? String }) == ["", "a, \"b\"\nc"])
      let after = try Command.run("count", store.path, "Item").output
      #expect(Int(after.dropLast()) == Int(count.dropLast()).map { $0 + 2 })
    }
  }

  @Test("Wrong tables are refused with their line", arguments: [
    ("name,name\n", 1, "twice"), ("name,colour\n", 1, "colour"), ("name,price\nTea\n", 2, "cells"),
    ("name\n\"Tea\n", 2, "no end"), ("name\n\"Tea\"x\n", 2, "comma"), ("pk,name\n1.5,Tea\n", 2, "key"),
    ("name,addedAt\nTea,2024-02-29T00:00:00Z\nCoffee,2024-02-31T00:00:00Z\n", 3, "addedAt"),
    ("", 0, "empty"),
  ])
  func wrongTables(_ wrong: (text: String, line: Int, words: String)) throws {
    try withShop { folder, store in
      let file = folder.appendingPathComponent("Item.csv")
      try Data(wrong.text.utf8).write(to: file)
      let outcome = try Command.run("import", store.path, file.path)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains(wrong.words), Comment(rawValue: outcome.messages))
      if wrong.line > 0 { #expect(outcome.messages.contains("Item.csv:\(wrong.line)")) }
    }
  }

  @Test("Wrong calls are refused before anything is written")
  func usage() throws {
    try withShop { folder, store in
      try #expect(Command.run("export", store.path, folder.path + "/a.csv", "--csv").status == 2)
      try #expect(Command.run("export", store.path, folder.path + "/a", "--csv", "--json").status == 2)
      try #expect(Command.run("import", folder.path + "/None.sqlite", folder.path).status == 1)
      try #expect(Command.run("import", store.path, folder.path + "/none.jsonl").status == 1)
      try #expect(Command.run("export", store.path, folder.path + "/a.jsonl", "--csv", "--entity", "Item").status == 2)
      let before = try FolderSnapshot(folder)
      try #expect(Command.run("export", store.path, store.path).messages.contains("is a database"))
      try #expect(FolderSnapshot(folder) == before)
      let missing = try Command.run("export", store.path, folder.path + "/none/all.jsonl")
      #expect(missing.status == 1)
      #expect(missing.messages.contains("can't be written"))
      let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(left.allSatisfy { $0.hasPrefix("Shop.sqlite") })
    }
  }
}
