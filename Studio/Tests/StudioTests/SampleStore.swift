import Foundation
import Persist
import PersistStudioSession

/// A store in a folder of its own, and requests to a session over it.
final class SampleStore {
  static let model = ModelDescription(
    entities: [
      EntityDescription(
        "Thing", isAbstract: true, attributes: [AttributeDescription("name", .string)],
        relationships: [
          RelationshipDescription("box", to: "Box", inverse: "things", isOptional: true),
          RelationshipDescription("tags", toMany: "Tag", inverse: "things"),
        ]),
      EntityDescription(
        "Item", parent: "Thing",
        attributes: [
          AttributeDescription("price", .decimal), AttributeDescription("count", .int64),
          AttributeDescription("weight", .double), AttributeDescription("made", .date),
          AttributeDescription("isNew", .boolean), AttributeDescription("code", .uuid),
          AttributeDescription("photo", .binary),
          AttributeDescription("place", .composite, compositeName: "Place"),
          AttributeDescription(
            "stars", .int16, validation: AttributeValidation(minimum: .integer(0), maximum: .integer(5))),
        ]),
      EntityDescription("Special", parent: "Item", attributes: [AttributeDescription("why", .string)]),
      EntityDescription(
        "Box", attributes: [AttributeDescription("label", .string, isOptional: false, default: .string("box"))],
        relationships: [
          RelationshipDescription("things", toMany: "Thing", inverse: "box", deleteRule: .cascade)
        ]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("title", .string)],
        relationships: [RelationshipDescription("things", toMany: "Thing", inverse: "tags")]),
      EntityDescription(
        "Note", attributes: [AttributeDescription("text", .string)],
        relationships: [RelationshipDescription("about", to: "Item")]),
    ],
    composites: [
      CompositeDescription(
        "Place", elements: [AttributeDescription("street", .string), AttributeDescription("number", .int32)])
    ])

  /// The folder of all stores of this run, which is removed at its end: sessions outlive the values of this class.
  private static let root: URL = {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("studio-tests")
    atexit { try? FileManager.default.removeItem(at: SampleStore.root) }
    return url.appendingPathComponent(String(ProcessInfo.processInfo.processIdentifier))
  }()

  let folder: URL
  var url: URL { folder.appendingPathComponent("sample.sqlite") }
  let coordinator: PersistentStoreCoordinator

  init(
    tracksHistory: Bool = false, keeps content: HistoryContent? = nil, pragmas: [String: String] = [:],
    model: ModelDescription = SampleStore.model
  ) throws {
    folder = Self.root.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(model))
    var options = StoreOptions()
    options.tracksHistory = tracksHistory
    options.historyKeeps = content
    options.pragmas = pragmas
    try coordinator.addStore(at: folder.appendingPathComponent("sample.sqlite"), options: options)
  }

  func fill(_ body: (ManagedObjectContext) throws -> Void) throws {
    let context = ManagedObjectContext(coordinator)
    context.transactionAuthor = "sample"
    try body(context)
    try context.save()
  }

  /// Closes the store, so that no file but its own is left.
  func close() throws { for store in coordinator.persistentStores { try coordinator.remove(store) } }

  /// Copies the files as they are now, as a program leaves them that is killed.
  func copy() throws -> SampleStore {
    let copy = try SampleStore()
    try copy.close()
    try FileManager.default.removeItem(at: copy.folder)
    try FileManager.default.copyItem(at: folder, to: copy.folder)
    return copy
  }

  func session(isWritable: Bool = false, models: URL? = nil) throws -> StudioSession {
    try StudioSession(storeAt: url, models: models, isWritable: isWritable)
  }

  /// The files of the store's folder: contents and times of change.
  func files() throws -> [String: String] {
    let manager = FileManager.default
    let names = try manager.subpathsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.map { name in
        let path = folder.appendingPathComponent(name).path
        let time = try manager.attributesOfItem(atPath: path)[.modificationDate] as? Date
        let content = manager.contents(atPath: path)?.base64EncodedString() ?? ""
        return (name, "\(time?.timeIntervalSinceReferenceDate ?? 0) \(content)")
      })
  }
}

/// JSON of an answer, for looking into it.
struct Answer {
  let status: Int
  let data: Data
  let contentType: String

  init(_ answer: StudioAnswer) async throws {
    status = answer.status
    contentType = answer.contentType
    switch answer.body {
    case .data(let data): self.data = data
    case .pieces(_, let next):
      var whole = Data()
      while let piece = try await next() { whole.append(piece) }
      data = whole
    }
  }

  var text: String { String(decoding: data, as: UTF8.self) }

  var json: [String: Any] { (try? JSONSerialization.jsonObject(with: data)) as? [String: Any] ?? [:] }

  var error: [String: Any] { json["error"] as? [String: Any] ?? [:] }

  func list(_ name: String) -> [[String: Any]] { json[name] as? [[String: Any]] ?? [] }
}

extension StudioSession {
  func get(_ resource: String, _ parameters: [String: String] = [:]) async throws -> Answer {
    try await Answer(answer(StudioRequest(.get, resource, parameters: parameters)))
  }

  func post(_ resource: String, _ body: [String: Any]) async throws -> Answer {
    let data = try JSONSerialization.data(withJSONObject: body)
    return try await Answer(answer(StudioRequest(.post, resource, body: data)))
  }

  func rows(
    _ entity: String, _ text: String = "", columns: [String] = [], start: Int = 0, count: Int = 100,
    order: (key: String, isAscending: Bool)? = nil
  ) async throws -> Answer {
    var body: [String: Any] = ["entity": entity, "text": text, "columns": columns, "start": start, "count": count]
    if let order { body["order"] = [["key": order.key, "isAscending": order.isAscending]] }
    return try await post("rows", body)
  }
}
