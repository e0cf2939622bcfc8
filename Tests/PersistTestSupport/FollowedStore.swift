public import Foundation
public import Persist

/// A small store that several processes write, and others follow by its history alone.
public enum FollowedStore {
  public static func model() throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Box", attributes: [.init("name", .string)],
          relationships: [.init("items", toMany: "Item", inverse: "box", deleteRule: .nullify)]),
        EntityDescription(
          "Item", attributes: [.init("name", .string), .init("number", .double)],
          relationships: [.init("box", to: "Box", inverse: "items")]),
      ]))
  }

  /// Opens the store, which all processes may do at once.
  public static func open(_ url: URL) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: try model())
    try coordinator.addStore(at: url, options: StoreOptions(busyTimeout: .seconds(120), tracksHistory: true))
    return coordinator
  }

  /// Everything that the objects of the store show, by their identifiers.
  public static func contents(_ coordinator: PersistentStoreCoordinator) throws -> [String: String] {
    let context = ManagedObjectContext(coordinator)
    let objects = try ["Box", "Item"].flatMap { try context.fetch(FetchRequest($0)) }
    return Dictionary(uniqueKeysWithValues: objects.map { ($0.objectID.uriRepresentation().absoluteString, words($0)) })
  }

  fileprivate static func words(_ object: ManagedObject) -> String {
    let box = object.entity.name == "Item" ? (object["box"] as? ManagedObject)?.objectID.description ?? "none" : ""
    let number = object.entity.name == "Item" ? "\(object["number"] ?? "none")" : ""
    return "\(object["name"] ?? "nameless") \(number) \(box)"
  }
}

/// Writes a store at random, as one of several processes.
public struct StoreWriter {
  private let coordinator: PersistentStoreCoordinator
  private let name: String
  private var random: SeededRandom

  public init(_ url: URL, name: String, seed: UInt64) throws {
    coordinator = try FollowedStore.open(url)
    self.name = name
    random = SeededRandom(seed: seed)
  }

  /// Performs one save or batch operation. Conflicts are left to a merge policy.
  public mutating func write() throws {
    let context = ManagedObjectContext(coordinator)
    context.mergePolicy = .mergeByPropertyObjectTrump
    context.transactionAuthor = name
    let items = try context.fetch(FetchRequest<ManagedObjectID>("Item"))
    let boxes = try context.fetch(FetchRequest("Box"))
    let box = boxes.randomElement(using: &random)
    let changed = items.randomElement(using: &random).map { context.object(with: $0) }
    switch Int.random(in: 0..<12, using: &random) {
    case 0: ManagedObject(entity: "Box", context: context)["name"] = name
    case 1...4:
      let item = ManagedObject(entity: "Item", context: context)
      item["name"] = name
      item["box"] = box
    case 5...6: changed?["number"] = Double.random(in: 0..<1000, using: &random)
    case 7: changed?["box"] = box
    case 8: if let changed { context.delete(changed) }
    case 9: if let box, boxes.count > 3 { context.delete(box) }
    case 10: try context.execute(BatchInsertRequest("Item", [["name": name], ["name": "\(name) again"]]))
    default:
      let number = Double.random(in: 0..<500, using: &random)
      if items.count > 200 {
        try context.execute(BatchDeleteRequest("Item", where: FetchPredicate("number > %@", number)))
      } else {
        try context.execute(BatchUpdateRequest("Item", set: ["number": .value(number)]))
      }
    }
    try context.save()
  }
}

/// Follows a store by its history, and saves its knowledge in a file, so that it can continue after being killed.
public struct StoreFollower {
  private struct State: Codable {
    var token: HistoryToken?
    var objects: [String: String] = [:]
  }

  private let coordinator: PersistentStoreCoordinator
  private let file: URL
  private var state: State

  /// Wakes the follower.
  public let changes: AsyncStream<StoreRemoteChange>

  public init(_ url: URL, file: URL) throws {
    coordinator = try FollowedStore.open(url)
    changes = coordinator.remoteChanges
    self.file = file
    state = FileManager.default.fileExists(atPath: file.path)
      ? try JSONDecoder().decode(State.self, from: Data(contentsOf: file)) : State()
  }

  /// The objects that a follower's file knows.
  public static func objects(in file: URL) throws -> [String: String] {
    try JSONDecoder().decode(State.self, from: Data(contentsOf: file)).objects
  }

  /// Follows what has been written since the last call.
  public mutating func follow() throws {
    let context = ManagedObjectContext(coordinator)
    let transactions = try context.execute(.fetchHistory(after: state.token)).transactions
    guard let last = transactions.last else { return }
    for change in transactions.flatMap({ $0.changes ?? [] }) {
      let name = change.changedObjectID.uriRepresentation().absoluteString
      if change.changeType == .delete {
        state.objects[name] = nil
      } else {
        // A later transaction may have deleted it.
        let object = try? context.existingObject(with: change.changedObjectID)
        state.objects[name] = object.map(FollowedStore.words)
      }
    }
    state.token = last.token
    try JSONEncoder().encode(state).write(to: file, options: .atomic)
  }
}
