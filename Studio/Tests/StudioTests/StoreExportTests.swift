import Foundation
import Persist
import PersistStudioSession
import Testing

extension StudioSession {
  /// Exports what a request finds to a new store, and waits for it.
  func exportToStore(_ request: [String: Any]) async throws -> Answer {
    var body: [String: Any] = ["text": "", "columns": [String](), "start": 0, "count": 0]
    body.merge(request) { $1 }
    let start = try await post("export/store/start", body)
    guard start.status == 200 else { return start }
    while true {
      let answer = try await get("export/store")
      if answer.json["state"] as? String != "writing" { return answer }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}

@Suite("Exporting what is shown to a new store")
struct StoreExportTests {
  /// Boxes with ten items each, tags of all items, and notes about some.
  private func filled() throws -> SampleStore {
    let sample = try SampleStore()
    try sample.fill { context in
      let tags = (0..<3).map { number in
        let tag = ManagedObject(entity: "Tag", context: context)
        tag["title"] = "tag \(number)"
        return tag
      }
      for number in 0..<30 {
        let item = ManagedObject(entity: number.isMultiple(of: 5) ? "Special" : "Item", context: context)
        item["name"] = "Item \(number)"
        item["count"] = number
        item["place"] = ["street": "Road", "number": number]
        item["tags"] = Set(tags.prefix(number % 3))
      }
    }
    return sample
  }

  /// Writes an exported store to a file of its own.
  private func save(_ session: StudioSession, beside sample: SampleStore) async throws -> URL {
    let answer = try await session.get("export/store/file")
    #expect(answer.contentType == "application/vnd.sqlite3")
    let url = sample.folder.appendingPathComponent("exported.sqlite")
    try answer.data.write(to: url)
    return url
  }

  @Test("The new store has these objects with their keys and values, and the relationships among them")
  func objects() async throws {
    let sample = try filled()
    let session = try sample.session()
    let outcome = try await session.exportToStore(["entity": "Item", "text": "count < 12 sort by count desc"])
    #expect(outcome.json["state"] as? String == "done", "\(outcome.text)")
    #expect(outcome.json["objects"] as? Int == 12)
    let url = try await save(session, beside: sample)
    let exported = try StudioSession(storeAt: url, models: nil, isWritable: false)
    let columns = ["name", "count", "place", "tags"]
    let rows = try await exported.rows("Item", "sort by count", columns: columns).list("rows")
    let before = try await session.rows("Item", "count < 12 sort by count", columns: columns).list("rows")
    #expect(rows.map { $0["key"] as? String } == before.map { $0["key"] as? String })
    #expect(rows.map { $0["entity"] as? String } == before.map { $0["entity"] as? String })
    for (row, old) in zip(rows, before) {
      let (cells, oldCells) = (row["cells"] as? [String] ?? [], old["cells"] as? [String] ?? [])
      #expect(cells.prefix(3) == oldCells.prefix(3))
      // The tags aren't among the objects that are shown.
      #expect(cells.last == "0")
    }
    #expect((try await exported.get("counts").json["counts"] as? [String: Int])?["Tag"] == 0)
  }

  @Test("A large value is in the file itself, so that one file is the whole store")
  func largeValues() async throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Photo", attributes: [AttributeDescription("content", .binary, allowsExternalStorage: true)])
    ])
    let sample = try SampleStore(model: model)
    let data = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try sample.fill { ManagedObject(entity: "Photo", context: $0)["content"] = data }
    let session = try sample.session()
    #expect(try await session.exportToStore(["entity": "Photo"]).json["objects"] as? Int == 1)
    let url = try await save(session, beside: sample)
    let exported = try StudioSession(storeAt: url, models: nil, isWritable: false)
    let value = try await exported.get("value", ["entity": "Photo", "key": "1", "property": "content"])
    #expect(value.data == data)
  }

  @Test("A request that can't be executed begins nothing; a stopped export leaves nothing")
  func refused() async throws {
    let session = try filled().session()
    #expect(try await session.exportToStore(["entity": "Item", "text": "count >"]).status == 400)
    #expect(try await session.exportToStore(["entity": "Nothing"]).status == 400)
    #expect(try await session.get("export/store/file").status == 404)
    _ = try await session.exportToStore(["entity": "Item"])
    #expect(try await session.get("export/store/file").status == 200)
    #expect(try await session.post("export/store/stop", [:]).json["state"] as? String == "none")
    #expect(try await session.get("export/store/file").status == 404)
  }
}
