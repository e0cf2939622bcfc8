import Foundation
import Persist
import PersistStudioSession
import Testing

@Suite("A migration on a copy, and its comparison")
struct TrialTests {
  private static func model(_ attributes: [AttributeDescription]) -> ModelDescription {
    ModelDescription(entities: [
      EntityDescription(
        "Item", attributes: [AttributeDescription("name", .string)] + attributes,
        relationships: [
          RelationshipDescription("boxes", toMany: "Box", inverse: "items"),
          RelationshipDescription("next", to: "Item"),
        ]),
      EntityDescription(
        "Box", attributes: [AttributeDescription("label", .string)],
        relationships: [RelationshipDescription("items", toMany: "Item", inverse: "boxes", isOrdered: true)]),
    ])
  }

  private static let old = model([
    AttributeDescription("count", .int32), AttributeDescription("colour", .string),
    AttributeDescription("gone", .string),
  ])
  private static let new = model([
    AttributeDescription("count", .int64), AttributeDescription("color", .string, renamingIdentifier: "colour"),
    AttributeDescription("added", .string, default: .string("new")),
  ])

  /// A store of the old version beside a folder with both.
  private func sample() throws -> (SampleStore, models: URL) {
    let sample = try SampleStore(model: Self.old)
    let models = sample.folder.appendingPathComponent("Models")
    try FileManager.default.createDirectory(at: models, withIntermediateDirectories: true)
    for (name, model) in [("Old", Self.old), ("New", Self.new)] {
      try Data(model.json.utf8).write(to: models.appendingPathComponent("\(name).json"))
    }
    try sample.fill { context in
      let items = (0..<250).map { number in
        let item = ManagedObject(entity: "Item", context: context)
        (item["name"], item["count"], item["colour"], item["gone"]) = ("Item \(number)", number, "c\(number)", "g")
        return item
      }
      for (item, next) in zip(items, items.dropFirst()) { item["next"] = next }
      ManagedObject(entity: "Box", context: context)["items"] = Array(items.reversed().prefix(20))
    }
    try sample.close()
    return (sample, models)
  }

  private func run(_ session: StudioSession, allowsLoss: Bool = true) async throws -> Answer {
    let versions = try await session.get("versions").list("versions")
    let number = try #require(versions.first { $0["name"] as? String == "New" }?["number"] as? Int)
    _ = try await session.post("trial/start", ["to": number, "allowsLoss": allowsLoss])
    while true {
      let answer = try await session.get("trial")
      if ["done", "failed"].contains(answer.json["state"] as? String) { return answer }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test("Every kept value is compared: renamed and converted attributes, relationships with their order")
  func comparison() async throws {
    let (sample, models) = try sample()
    let session = try sample.session(models: models)
    defer { session.close() }
    let trial = try await run(session)
    let comparison = try #require(trial.json["comparison"] as? [String: Any], "\(trial.text)")
    #expect(comparison["isSame"] as? Bool == true, "\(trial.text)")
    #expect(comparison["objects"] as? Int == 251)
    // Items: name, count, color, boxes, next; boxes: label, items. Neither what is lost nor what is new is kept.
    #expect(comparison["values"] as? Int == 250 * 5 + 2)
    #expect((comparison["differences"] as? [Any])?.isEmpty == true)
    #expect(trial.json["hasChanged"] as? Bool == false)
  }

  @Test("The plan parks what the new version has no place for, as automatic migrations do")
  func parked() async throws {
    let (sample, models) = try sample()
    let session = try sample.session(models: models)
    defer { session.close() }
    let number = try await session.get("versions").list("versions").first { $0["name"] as? String == "New" }?["number"]
    let plan = try await session.get("plan", ["to": "\(try #require(number as? Int))"])
    #expect((plan.json["lost"] as? [Any])?.isEmpty == true, "\(plan.text)")
    #expect((plan.json["kept"] as? [[String: Any]])?.isEmpty == false, "\(plan.text)")
  }

  @Test("Without permission for losses the trial fails and says why")
  func refused() async throws {
    let (sample, models) = try sample()
    let session = try sample.session(models: models)
    defer { session.close() }
    let trial = try await run(session, allowsLoss: false)
    #expect(trial.json["state"] as? String == "failed")
    #expect((trial.json["message"] as? String)?.isEmpty == false)
  }
}
