import Foundation
import Persist
import PersistStudioSession
import Testing

@Suite("Objects in the studio")
struct ObjectTests {
  private func value(_ answer: Answer, _ name: String) -> [String: Any] {
    answer.list("attributes").first { $0["name"] as? String == name } ?? [:]
  }

  @Test("Values are exact: dates, decimals, large whole numbers, composites, bytes")
  func values() async throws {
    let sample = try SampleStore()
    let date = Date(timeIntervalSinceReferenceDate: 694_224_000.125)
    try sample.fill { context in
      let item = ManagedObject(entity: "Item", context: context)
      item["price"] = Decimal(string: "0.1234567890123456789012345678")
      item["count"] = Int64.max
      item["weight"] = 0.1
      item["made"] = date
      item["place"] = ["street": "A \"B\"", "number": 12]
      item["photo"] = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0])
    }
    let answer = try await sample.session().post("object", ["entity": "Item", "key": "1"])
    #expect(answer.status == 200)
    #expect(value(answer, "price")["text"] as? String == "0.1234567890123456789012345678")
    #expect(value(answer, "count")["text"] as? String == "9223372036854775807")
    #expect(value(answer, "weight")["text"] as? String == "0.1")
    #expect(value(answer, "made")["text"] as? String == "2023-01-01T00:00:00.125000Z")
    #expect(value(answer, "made")["seconds"] as? Double == 694_224_000.125)
    let elements = value(answer, "place")["elements"] as? [[String: Any]]
    #expect(elements?.map { $0["text"] as? String } == ["12", "A \"B\""])
    let bytes = value(answer, "photo")["bytes"] as? [String: Any]
    #expect(bytes?["pictureType"] as? String == "image/png")
    #expect(bytes?["hexadecimal"] as? String == "89504e470d0a1a0a00")
  }

  @Test("An object is found by the name of a superentity, and its relationships lead both ways")
  func relationships() async throws {
    let sample = try SampleStore()
    try sample.fill { context in
      let special = ManagedObject(entity: "Special", context: context)
      special["name"] = "The one"
      let note = ManagedObject(entity: "Note", context: context)
      note["about"] = special
      let box = ManagedObject(entity: "Box", context: context)
      special["box"] = box
      for _ in 0..<30 { ManagedObject(entity: "Item", context: context)["box"] = box }
    }
    let session = try sample.session()
    let specials = try await session.rows("Special").list("rows")
    let key = try #require(specials.first?["key"] as? String)
    let answer = try await session.post("object", ["entity": "Thing", "key": key])
    #expect(answer.json["entity"] as? String == "Special")
    #expect(answer.json["name"] as? String == "The one")
    #expect(answer.list("referrers").map { $0["name"] as? String } == ["about"])
    let box = try await session.post("object", ["entity": "Box", "key": "1"])
    #expect(box.list("relationships").first?["total"] as? Int == 31)
    #expect((box.list("relationships").first?["members"] as? [Any])?.count == 20)
    let rest = try await session.post(
      "members", ["entity": "Box", "key": "1", "property": "things", "start": 20, "count": 50])
    #expect(rest.list("members").count == 11)
  }

  @Test("A large value is described by its size, and sent whole in pieces")
  func largeValues() async throws {
    let sample = try SampleStore()
    let data = Data((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try sample.fill { context in
      let item = ManagedObject(entity: "Item", context: context)
      item["photo"] = data
      item["name"] = String(repeating: "é", count: 1_000_000)
    }
    let session = try sample.session()
    let answer = try await session.post("object", ["entity": "Item", "key": "1"])
    #expect(answer.data.count < 400_000)
    #expect((value(answer, "photo")["bytes"] as? [String: Any])?["count"] as? Int == data.count)
    #expect(value(answer, "name")["isCut"] as? Bool == true)
    let whole = try await session.get("value", ["entity": "Item", "key": "1", "property": "photo"])
    #expect(whole.data == data)
    let text = try await session.get("value", ["entity": "Item", "key": "1", "property": "name"])
    #expect(text.data.count == 2_000_000)
  }

  @Test("Only pictures that can't contain scripts are shown, everything else is a file")
  func shownValues() async throws {
    let sample = try SampleStore()
    try sample.fill { context in
      for bytes in [Data("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".utf8), Data("<html>".utf8)] {
        ManagedObject(entity: "Item", context: context)["photo"] = bytes
      }
    }
    let session = try sample.session()
    for key in ["1", "2"] {
      let answer = try await session.get("value", ["entity": "Item", "key": key, "property": "photo", "shows": ""])
      #expect(answer.contentType == "application/octet-stream")
    }
  }

  @Test("What isn't there is said, not trapped on")
  func missing() async throws {
    let session = try SampleStore().session()
    for (resource, body) in [
      ("object", ["entity": "Item", "key": "99"]), ("object", ["entity": "Nothing", "key": "1"]),
      ("object", ["entity": "Item", "key": "x"]), ("members", ["entity": "Item", "key": "1", "property": "zzz"]),
    ] {
      let answer = try await session.post(resource, body)
      #expect((400..<500).contains(answer.status), "\(answer.text)")
      #expect(answer.error["message"] is String)
    }
  }

  @Test("Requests of any content are answered, with an error where they make no sense", arguments: 0..<40)
  func nonsense(seed: Int) async throws {
    var random = Random(seed: UInt64(seed))
    let sample = try SampleStore()
    try sample.fill { _ = ManagedObject(entity: "Item", context: $0) }
    let session = try sample.session(isWritable: seed.isMultiple(of: 2))
    let resources = [
      "rows", "explain", "object", "members", "edits/apply", "edits/deletion", "trial/start", "export", "value", "plan",
      "diagram", "changes", "store", "counts", "versions", "past", "export/store/start", "export/store", "trial", "zzz",
      "",
    ]
    let values: [Any] = [
      "", "Item", "Box", "name", "count", "1", "-1", "9223372036854775807", 0, 1, -5, 1000, 1_000_000_000, NSNull(),
      true, ["count"], [["key": "count", "isAscending": true]], ["entity": "Item", "key": "1"], "set", "delete",
      "undo", "save",
      "name == 'x' sort by name", "SUBQUERY(", "\u{0}", "limit 0", String(repeating: "(", count: 500),
    ]
    let names = [
      "entity", "text", "columns", "start", "count", "order", "key", "property", "naming", "action", "object", "to",
      "format", "after", "version", "from", "targets",
    ]
    for _ in 0..<40 {
      let resource = resources.randomElement(using: &random) ?? ""
      let chosen = names.filter { _ in Bool.random(using: &random) }
      let body = chosen.map { ($0, values.randomElement(using: &random) ?? "") }
      let posted = try await session.post(resource, Dictionary(uniqueKeysWithValues: body))
      let got = try await session.get(
        resource, Dictionary(uniqueKeysWithValues: body.map { ($0, "\($1)") }))
      for answer in [posted, got] where answer.status != 200 { #expect(answer.error["message"] is String) }
    }
  }
}
