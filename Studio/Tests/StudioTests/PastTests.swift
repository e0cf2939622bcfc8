import Foundation
import Persist
import PersistStudioSession
import Testing

@Suite("An object's past")
struct PastTests {
  private func past(_ sample: SampleStore, _ entity: String, _ key: String) async throws -> Answer {
    try await sample.session().post("past", ["entity": entity, "key": key])
  }

  private func values(_ entry: [String: Any]) -> [String: [String]] {
    let values = entry["values"] as? [[String: Any]] ?? []
    func text(_ value: Any?) -> String {
      let value = value as? [String: Any] ?? [:]
      let object = value["object"] as? [String: Any]
      return (value["text"] ?? object?["name"] ?? value["kind"]) as? String ?? ""
    }
    return Dictionary(
      uniqueKeysWithValues: values.map { ($0["property"] as? String ?? "", [text($0["before"]), text($0["after"])]) })
  }

  /// An item that two transactions change, beside others.
  private func changed(keeps content: HistoryContent?) throws -> SampleStore {
    let sample = try SampleStore(tracksHistory: true, keeps: content)
    let context = ManagedObjectContext(sample.coordinator)
    context.transactionAuthor = "first"
    let item = ManagedObject(entity: "Item", context: context)
    let (red, blue) = (ManagedObject(entity: "Box", context: context), ManagedObject(entity: "Box", context: context))
    let tag = ManagedObject(entity: "Tag", context: context)
    (red["label"], blue["label"], tag["title"]) = ("red", "blue", "new")
    (item["name"], item["count"], item["box"]) = ("One", 1, red)
    try context.save()
    context.transactionAuthor = "second"
    (item["name"], item["photo"]) = ("Two", Data(count: 100))
    item["tags"] = Set([tag])
    try context.save()
    context.transactionAuthor = "third"
    (item["name"], item["box"]) = ("Three", blue)
    try context.save()
    ManagedObject(entity: "Item", context: context)["name"] = "Other"
    try context.save()
    return sample
  }

  @Test("Every change has the values before and after it, the latest first")
  func values() async throws {
    let sample = try changed(keeps: .oldValues)
    let answer = try await past(sample, "Item", "1")
    let entries = answer.list("entries")
    #expect(entries.map { $0["author"] as? String } == ["third", "second", "first"])
    #expect(entries.map { $0["type"] as? String } == ["update", "update", "insert"])
    #expect(answer.json["keepsValues"] as? Bool == true)
    #expect(answer.json["isWhole"] as? Bool == true)
    #expect(values(entries[0]) == ["name": ["Two", "Three"], "box": ["red", "blue"]])
    #expect(values(entries[1]) == ["name": ["One", "Two"], "photo": ["null", "bytes"]])
    let members = entries[1]["members"] as? [[String: Any]]
    #expect(members?.map { $0["property"] as? String } == ["tags"])
    #expect((members?.first?["added"] as? [[String: Any]])?.map { $0["name"] as? String } == ["new"])
  }

  @Test("Without old values the transactions are listed, with the properties that they changed")
  func withoutValues() async throws {
    let sample = try changed(keeps: nil)
    let answer = try await past(sample, "Item", "1")
    let entries = answer.list("entries")
    #expect(entries.map { $0["author"] as? String } == ["third", "second", "first"])
    #expect(entries.map { $0["others"] as? [String] } == [["box", "name"], ["name", "photo", "tags"], nil])
    #expect(answer.json["keepsValues"] as? Bool == false)
  }

  @Test("A value that a change replaced without keeping it is unknown, not that of another time")
  func unknown() async throws {
    let sample = try SampleStore(tracksHistory: true, keeps: .oldValues)
    try sample.fill { ManagedObject(entity: "Item", context: $0)["name"] = "One" }
    func rename(_ name: String) throws {
      try sample.fill { context in
        let item = try context.fetch(FetchRequest<ManagedObject>("Item")).first
        item?["name"] = name
      }
    }
    try rename("Two")
    try sample.close()
    // Old values are no longer kept: what they were is forgotten with the setting.
    var options = StoreOptions()
    options.historyKeeps = .changes
    try sample.coordinator.addStore(at: sample.url, options: options)
    try rename("Three")
    let entries = try await past(sample, "Item", "1").list("entries")
    #expect(entries.map { $0["others"] as? [String] } == [["name"], ["name"], nil])
    #expect(entries.allSatisfy { values($0).isEmpty })
  }

  @Test("A deleted object has a past, which ends with its last values")
  func deleted() async throws {
    let sample = try changed(keeps: .oldValues)
    try sample.fill { context in
      let item = try #require(try context.fetch(FetchRequest<ManagedObject>("Item", where: "name == 'Three'")).first)
      context.delete(item)
    }
    // By the name of a superentity too, as other requests find objects.
    for entity in ["Item", "Thing"] {
      let answer = try await past(sample, entity, "1")
      let entries = answer.list("entries")
      #expect(answer.json["isDeleted"] as? Bool == true)
      #expect(entries.map { $0["type"] as? String } == ["delete", "update", "update", "insert"])
      let last = entries.first.map(values) ?? [:]
      #expect(last["name"]?.first == "Three" && last["box"]?.first == "blue" && last["count"]?.first == "1")
      #expect(values(entries[1])["name"] == ["Two", "Three"])
    }
  }

  @Test("A store without a history says so")
  func withoutHistory() async throws {
    let sample = try SampleStore()
    try sample.fill { ManagedObject(entity: "Item", context: $0)["name"] = "One" }
    let answer = try await past(sample, "Item", "1")
    #expect(answer.status == 200)
    #expect(answer.json["hasHistory"] as? Bool == false)
    #expect(answer.list("entries").isEmpty)
  }
}
