import Foundation
import Persist
import PersistStudioSession
import Testing

@Suite("A studio that writes")
struct EditingTests {
  private func sample() throws -> SampleStore {
    let sample = try SampleStore()
    try sample.fill { context in
      let box = ManagedObject(entity: "Box", context: context)
      box["label"] = "Red"
      for number in 1...3 {
        let item = ManagedObject(entity: "Item", context: context)
        item["name"] = "Item \(number)"
        item["box"] = box
        item["stars"] = number
      }
    }
    try sample.close()
    return sample
  }

  private func reference(
    _ session: StudioSession, _ entity: String, _ condition: String = ""
  ) async throws -> [String: Any] {
    let row = try #require(try await session.rows(entity, condition).list("rows").first)
    return ["entity": row["entity"] as Any, "key": row["key"] as Any]
  }

  /// Changes the store as another program does.
  private func changeElsewhere(_ sample: SampleStore, _ body: (ManagedObjectContext) throws -> Void) throws {
    let other = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleStore.model))
    try other.addStore(at: sample.url)
    let context = ManagedObjectContext(other)
    try body(context)
    try context.save()
  }

  @Test("A value is checked as it is typed, set, undone, redone and saved")
  func values() async throws {
    let sample = try sample()
    let session = try sample.session(isWritable: true)
    let item = try await reference(session, "Item", "name == 'Item 2'")
    func apply(_ action: String, _ text: String = "") async throws -> Answer {
      try await session.post("edits/apply", ["action": action, "object": item, "property": "stars", "text": text])
    }
    #expect(try await apply("check", "4").status == 200)
    #expect(try await apply("check", "six").status == 400)
    #expect(try await apply("check", "6").status == 422)
    #expect(try await apply("set", "4").list("objects").count == 1)
    #expect(try await apply("undo").list("objects").isEmpty)
    let redone = try await apply("redo")
    #expect((redone.list("objects").first?["values"] as? [[String: Any]])?.first?["text"] as? String == "4")
    #expect(try await session.rows("Item", "stars == 4").list("rows").isEmpty)
    #expect(try await apply("save").list("objects").isEmpty)
    #expect(
      try await session.post(
        "rows", ["entity": "Item", "text": "stars == 4", "columns": [], "start": 0, "count": 5, "isFresh": true]
      ).list("rows").count == 1)
  }

  @Test("What the delete rules take along is shown first, without deleting anything")
  func deletion() async throws {
    let session = try sample().session(isWritable: true)
    let box = try await reference(session, "Box")
    let answer = try await session.post("edits/deletion", ["action": "delete", "object": box])
    #expect((answer.json["deleted"] as? [String: Any])?["total"] as? Int == 4)
    #expect(try await session.get("edits").list("objects").isEmpty)
    let deleted = try await session.post("edits/apply", ["action": "delete", "object": box])
    #expect(deleted.list("objects").count == 4)
    #expect(try await session.post("edits/apply", ["action": "save"]).status == 200)
    #expect((try await session.get("counts").json["counts"] as? [String: Int])?["Item"] == 0)
  }

  @Test("A deletion is shown with the unsaved changes: an object that left isn't deleted, and a new one is")
  func deletionOfUnsaved() async throws {
    let session = try sample().session(isWritable: true)
    let box = try await reference(session, "Box")
    let first = try await reference(session, "Item", "name == 'Item 1'")
    let inserted = try await session.post("edits/apply", ["action": "insert", "entity": "Item"])
    let new = try #require(inserted.json["object"] as? [String: Any])
    for form in [
      ["action": "set", "object": new, "property": "name", "text": "New"],
      ["action": "relate", "object": new, "property": "box", "targets": [box]],
      ["action": "relate", "object": first, "property": "box", "targets": [[String: Any]]()],
    ] as [[String: Any]] {
      #expect(try await session.post("edits/apply", form).status == 200)
    }
    let before = try await session.get("edits").text
    let answer = try await session.post("edits/deletion", ["action": "delete", "object": box])
    let deleted = answer.json["deleted"] as? [String: Any]
    let names = (deleted?["objects"] as? [[String: Any]] ?? []).map { $0["name"] as? String }
    #expect(names == ["Red", "Item 2", "Item 3", "New"], "\(answer.text)")
    #expect(deleted?["total"] as? Int == 4)
    #expect(try await session.get("edits").text == before)
    let made = try await session.post("edits/apply", ["action": "delete", "object": box])
    #expect(made.list("objects").count { $0["status"] as? String == "deleted" } == 3)
  }

  @Test("Objects are inserted, filled, related, duplicated and saved together")
  func insertion() async throws {
    let session = try sample().session(isWritable: true)
    let box = try await reference(session, "Box")
    let inserted = try await session.post("edits/apply", ["action": "insert", "entity": "Item"])
    let item = try #require(inserted.json["object"] as? [String: Any])
    #expect(
      try await session.post(
        "edits/apply", ["action": "set", "object": item, "property": "name", "text": "New"]).status == 200)
    #expect(
      try await session.post(
        "edits/apply", ["action": "relate", "object": item, "property": "box", "targets": [box]]).status == 200)
    #expect(try await session.post("edits/apply", ["action": "duplicate", "object": item]).status == 200)
    #expect(try await session.post("edits/apply", ["action": "save"]).status == 200)
    #expect(try await session.rows("Item", "name == 'New'", columns: ["name"]).list("rows").count == 2)
    #expect(try await session.rows("Item", "box.label == 'Red'").list("rows").count == 5)
  }

  @Test("A conflict with another program is shown, and resolved as the user wants", arguments: ["mine", "theirs"])
  func conflicts(resolution: String) async throws {
    let sample = try sample()
    let session = try sample.session(isWritable: true)
    let item = try await reference(session, "Item", "name == 'Item 1'")
    _ = try await session.post(
      "edits/apply", ["action": "set", "object": item, "property": "name", "text": "Mine"])
    try changeElsewhere(sample) { context in
      try context.fetch(FetchRequest("Item", where: "name == 'Item 1'")).first?.setValue("Theirs", forKey: "name")
    }
    let conflict = try await session.post("edits/apply", ["action": "save"])
    #expect(conflict.status == 409, "\(conflict.text)")
    #expect(conflict.error["name"] as? String == "mergeConflict")
    #expect(try await session.post("edits/apply", ["action": "save", "resolution": resolution]).status == 200)
    let name = resolution == "mine" ? "Mine" : "Theirs"
    #expect(try await session.rows("Item", "name == '\(name)'").list("rows").count == 1)
  }

  @Test("A change is made to the newest values, those that another program saved after an earlier save among them")
  func newestValues() async throws {
    let sample = try sample()
    let session = try sample.session(isWritable: true)
    let item = try await reference(session, "Item", "name == 'Item 1'")
    let box = try await reference(session, "Box")
    func apply(_ action: String, _ fields: [String: Any] = [:]) async throws -> Answer {
      let answer = try await session.post("edits/apply", fields.merging(["action": action]) { $1 })
      #expect(answer.status == 200, "\(answer.text)")
      return answer
    }
    _ = try await apply("set", ["object": item, "property": "name", "text": "A"])
    _ = try await apply("set", ["object": box, "property": "label", "text": "Green"])
    _ = try await apply("save")
    try changeElsewhere(sample) { context in
      let first = try context.fetch(FetchRequest("Item", where: "name == 'A'")).first
      first?["name"] = "B"
      first?["stars"] = 5
      let added = ManagedObject(entity: "Item", context: context)
      added["name"] = "Added"
      added["box"] = first?["box"]
    }
    let copied = try await apply("duplicate", ["object": item])
    let copy = copied.list("objects").first { $0["status"] as? String == "inserted" }
    let values = copy?["values"] as? [[String: Any]] ?? []
    #expect(values.contains { $0["property"] as? String == "name" && $0["text"] as? String == "B" }, "\(copied.text)")
    _ = try await apply("undo")
    _ = try await apply("set", ["object": item, "property": "name", "text": "A"])
    _ = try await apply("relate", ["object": box, "property": "things", "targets": [item]])
    _ = try await apply("save")
    #expect(try await session.rows("Item", "name == 'A' AND stars == 5 AND box != nil").list("rows").count == 1)
    #expect(try await session.rows("Item", "name == 'Added' AND box == nil").list("rows").count == 1)
  }

  @Test(
    "Typed values are read exactly as they are shown",
    arguments: [
      ("price", "12.340000000000000000001"), ("count", "-9223372036854775808"), ("weight", "0.1"),
      ("made", "2023-01-01T00:00:00.125000Z"), ("isNew", "true"), ("code", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8"),
      ("name", " spaces \n and\r\nlines\r"), ("made", "2024-02-29T23:59:59.000001Z"),
    ])
  func roundTrip(property: String, text: String) async throws {
    let session = try sample().session(isWritable: true)
    let item = try await reference(session, "Item")
    for form in [["action": "set", "object": item, "property": property, "text": text], ["action": "save"]] {
      let answer = try await session.post("edits/apply", form)
      #expect(answer.status == 200, "\(answer.text)")
    }
    let object = try await session.post("object", item)
    let value = object.list("attributes").first { $0["name"] as? String == property }
    #expect(value?["text"] as? String == text)
  }

  @Test(
    "Values that don't exist, or that would be stored as others, are refused",
    arguments: [
      ("made", "2025-02-30"), ("made", "2025-02-29T10:00:00Z"), ("made", "2025-06-31 10:00 +02:00"),
      ("made", "2025-06-01T25:00:00Z"), ("price", "0.1234567890123456789012345678901234567890123"),
      ("price", "12345678901234567890123456789012345678901"), ("price", "1e500"),
    ])
  func inexactTexts(property: String, text: String) async throws {
    let session = try sample().session(isWritable: true)
    let item = try await reference(session, "Item")
    for action in ["check", "set"] {
      let answer = try await session.post(
        "edits/apply", ["action": action, "object": item, "property": property, "text": text])
      #expect(answer.status == 400, "\(answer.text)")
      #expect(answer.error["name"] as? String == "typeMismatch")
    }
  }

  @Test("A date is typed with all its decimals, saved or not", arguments: [806_421_234.123_456_7, -0.000_000_123, 1e12])
  func exactDates(seconds: Double) async throws {
    let sample = try SampleStore()
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    try sample.fill { ManagedObject(entity: "Item", context: $0)["made"] = date }
    let session = try sample.session(isWritable: true)
    let item = try await reference(session, "Item")
    let saved = try await session.post("object", item).list("attributes").first { $0["name"] as? String == "made" }
    let text = try #require(saved?["exactText"] as? String ?? saved?["text"] as? String)
    let copied = try await session.post("edits/apply", ["action": "duplicate", "object": item])
    let values = copied.list("objects").first?["values"] as? [[String: Any]]
    #expect(values?.first { $0["property"] as? String == "made" }?["text"] as? String == text)
    let copy = try #require(copied.json["object"] as? [String: Any])
    let form: [String: Any] = ["object": copy, "property": "made", "text": text]
    #expect(try await session.post("edits/apply", form.merging(["action": "set"]) { $1 }).status == 200)
    #expect(try await session.post("edits/apply", ["action": "save"]).status == 200)
    let context = ManagedObjectContext(sample.coordinator)
    #expect(try context.fetch(FetchRequest("Item")).map { $0["made"] as? Date } == [date, date])
  }

  @Test("Unsaved values are whole, so that editing them again loses nothing; parts are marked")
  func unsavedTexts() async throws {
    let session = try sample().session(isWritable: true)
    let item = try await reference(session, "Item")
    let long = String(repeating: "é ", count: 5000)
    let bytes = String(repeating: "0a", count: 512)
    let texts: [(property: String, text: String, isCut: Bool)] = [
      ("name", long, false), ("name", String(repeating: "x", count: 70_000), true), ("photo", bytes, false),
      ("photo", bytes + "ff", true),
    ]
    for (property, text, isCut) in texts {
      for action in ["set", "duplicate"] {
        let form: [String: Any] = ["action": action, "object": item, "property": property, "text": text]
        let answer = try await session.post("edits/apply", form)
        let status = action == "set" ? "updated" : "inserted"
        let change = answer.list("objects").first { $0["status"] as? String == status }
        let values = change?["values"] as? [[String: Any]] ?? []
        let value = values.first { $0["property"] as? String == property } ?? [:]
        #expect((value["text"] as? String == text) != isCut, "\(action) \(property)")
        #expect(value["isCut"] as? Bool == isCut, "\(action) \(property)")
      }
      #expect(try await session.post("edits/apply", ["action": "discard"]).status == 200)
    }
  }

  @Test("Members are added and removed beside those that another page has added")
  func changedMembers() async throws {
    let session = try sample().session(isWritable: true)
    let box = try await reference(session, "Box")
    let first = try await reference(session, "Item", "name == 'Item 1'")
    let gone = try await reference(session, "Item", "name == 'Item 2'")
    func relate(_ fields: [String: Any]) async throws -> Answer {
      try await session.post(
        "edits/apply", fields.merging(["action": "relate", "object": box, "property": "things"]) { $1 })
    }
    let inserted = try await session.post("edits/apply", ["action": "insert", "entity": "Item"])
    let new = try #require(inserted.json["object"] as? [String: Any])
    #expect(try await relate(["added": [new]]).status == 200)
    #expect(try await session.post("edits/apply", ["action": "delete", "object": gone]).status == 200)
    #expect(try await relate(["removed": [first, gone]]).status == 200)
    #expect(try await relate(["added": [box]]).status == 400)
    #expect(try await session.post("edits/apply", ["action": "save"]).status == 200)
    let things = try await session.post("object", box).list("relationships").first?["members"] as? [[String: Any]]
    #expect(things?.map { $0["name"] as? String } == ["Item 3", nil])
  }

  @Test("The number of the unsaved changes differs after each of them, so that other pages read them")
  func revisions() async throws {
    let session = try sample().session(isWritable: true)
    let item = try await reference(session, "Item")
    var numbers = [try #require(try await session.get("edits").json["revision"] as? Int)]
    for action in ["set", "undo", "redo", "save", "delete", "discard"] {
      let answer = try await session.post(
        "edits/apply", ["action": action, "object": item, "property": "name", "text": "New"])
      numbers.append(try #require(answer.json["revision"] as? Int))
      #expect(try await session.get("changes").json["edits"] as? Int == numbers.last)
    }
    #expect(Set(numbers).count == 7 && numbers == numbers.sorted())
    let checked = try await session.post(
      "edits/apply", ["action": "check", "object": item, "property": "name", "text": "Newer"])
    #expect(checked.json["revision"] as? Int == numbers.last)
    #expect(try await sample().session().get("changes").json["edits"] is NSNull)
  }

  @Test("The unsaved members of a relationship are named, new objects among them, so that a choice begins with them")
  func unsavedMembers() async throws {
    let sample = try sample()
    let session = try sample.session(isWritable: true)
    let box = try await reference(session, "Box")
    let created = try await session.post("edits/apply", ["action": "insert", "entity": "Item"])
    let item = try #require(created.json["object"] as? [String: Any])
    let answer = try await session.post(
      "edits/apply", ["action": "relate", "object": box, "property": "things", "targets": [item]])
    let change = answer.list("objects").first { ($0["object"] as? [String: Any])?["entity"] as? String == "Box" }
    let values = change?["values"] as? [[String: Any]] ?? []
    let members = values.first { $0["property"] as? String == "things" }?["members"] as? [[String: Any]]
    let number = try #require(item["temporary"] as? Int)
    #expect(members?.map { $0["temporary"] as? Int } == [number], "\(answer.text)")
  }
}
