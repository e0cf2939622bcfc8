import Foundation
import Persist
import PersistStudioSession
import Testing

@Suite("A studio that only reads")
struct ReadOnlyTests {
  enum State: CaseIterable {
    /// No other program has the store open.
    case closed
    /// A program was killed that had it open, with changes in the log.
    case killed
    /// The store has a rollback journal instead of a log.
    case rollback
  }

  @Test(
    "No byte and no time of any file changes, and no file appears, whatever is asked for", arguments: State.allCases)
  func bytes(state: State) async throws {
    var sample = try SampleStore(
      tracksHistory: true, pragmas: state == .rollback ? ["journal_mode": "delete"] : [:])
    try sample.fill { context in
      for number in 0..<50 {
        let item = ManagedObject(entity: "Item", context: context)
        item["name"] = "Item \(number)"
        item["count"] = number
        item["photo"] = Data(count: 2000)
      }
    }
    if state == .killed { sample = try sample.copy() } else { try sample.close() }
    let before = try sample.files()
    let session = try sample.session()
    for resource in ["store", "counts", "versions", "diagram", "diagram/style", "trial"] {
      #expect(try await session.get(resource).status == 200)
    }
    #expect(try await session.get("changes", ["after": "0"]).list("transactions").count == 1)
    #expect(try await session.rows("Item", "count > 5 sort by name", columns: ["name", "photo", "box"]).status == 200)
    #expect(try await session.post("object", ["entity": "Item", "key": "3"]).status == 200)
    #expect(try await session.get("value", ["entity": "Item", "key": "3", "property": "photo"]).data.count == 2000)
    #expect(try await session.post("past", ["entity": "Item", "key": "3"]).list("entries").count == 1)
    #expect(try await session.exportToStore(["entity": "Item", "text": "count > 5"]).json["objects"] as? Int == 44)
    let parameters = ["entity": "Item", "columns": "name", "format": "csv"]
    #expect(try await session.get("export", parameters).status == 200)
    for action in ["set", "insert", "delete", "save"] {
      #expect(try await session.post("edits/apply", ["action": action, "entity": "Item"]).status == 403)
    }
    session.close()
    #expect(try sample.files() == before)
    #expect(before.keys.contains("sample.sqlite-wal") == (state == .killed))
  }

  @Test("What another program saves is seen, and the mark of the files tells of it")
  func changes() async throws {
    let sample = try SampleStore(tracksHistory: true)
    try sample.fill { _ = ManagedObject(entity: "Box", context: $0) }
    let session = try sample.session()
    let first = try await session.get("changes", ["after": "0"])
    try sample.fill { ManagedObject(entity: "Box", context: $0)["label"] = "new" }
    let last = try #require(first.json["last"] as? Int)
    let second = try await session.get("changes", ["after": "\(last)"])
    #expect(second.json["mark"] as? String != first.json["mark"] as? String)
    let transactions = second.list("transactions")
    #expect(transactions.count == 1)
    #expect((transactions.first?["transaction"] as? [String: Any])?["author"] as? String == "sample")
    #expect((try await session.get("counts").json["counts"] as? [String: Int])?["Box"] == 2)
  }

  @Test("Keys and values of changes are texts, from which scripts lose no digits")
  func exactChanges() async throws {
    let item = EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("count", .int64, preservesValueOnDeletion: true),
        AttributeDescription("name", .string, preservesValueOnDeletion: true),
      ])
    let sample = try SampleStore(tracksHistory: true, model: ModelDescription(entities: [item]))
    let context = ManagedObjectContext(sample.coordinator)
    let object = ManagedObject(entity: "Item", context: context)
    object["count"] = Int64.max
    try context.save()
    context.delete(object)
    try context.save()
    let answer = try await sample.session().get("changes", ["after": "0"])
    let transaction = answer.list("transactions").last?["transaction"] as? [String: Any]
    let change = try #require((transaction?["changes"] as? [[String: Any]])?.first)
    #expect(change["type"] as? String == "delete")
    #expect(change["key"] as? String == "1")
    let kept = change["tombstone"] as? [[String: Any]] ?? []
    #expect(kept.first { $0["property"] as? String == "count" }?["text"] as? String == "9223372036854775807")
  }
}
