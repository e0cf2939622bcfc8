import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A model whose history has something of everything: a hierarchy, all kinds of relationships, preserved attributes.
enum HistoryModel {
  static let description = ModelDescription(entities: [
    EntityDescription(
      "Person",
      attributes: [
        .init("age", .int32), .init("name", .string, preservesValueOnDeletion: true),
        .init("photo", .binary, allowsExternalStorage: true, preservesValueOnDeletion: true),
      ],
      relationships: [
        .init("team", to: "Team", inverse: "members"), .init("tags", toMany: "Tag", inverse: "people"),
        .init("friends", toMany: "Person", inverse: "friends"), .init("reports", toMany: "Employee", inverse: "boss"),
      ]),
    EntityDescription(
      "Employee", parent: "Person",
      attributes: [.init("salary", .double), .init("code", .uuid, preservesValueOnDeletion: true)],
      relationships: [.init("boss", to: "Person", inverse: "reports")]),
    EntityDescription(
      "Team", attributes: [.init("name", .string)],
      relationships: [
        .init("members", toMany: "Person", inverse: "team", deleteRule: .cascade),
        .init("tag", to: "Tag", inverse: "team"),
      ]),
    EntityDescription(
      "Tag", attributes: [.init("label", .string)],
      relationships: [
        .init("people", toMany: "Person", inverse: "tags"), .init("team", to: "Team", inverse: "tag"),
      ], uniquenessConstraints: [["label"]]),
  ])

  static func make() throws -> ManagedObjectModel { try ManagedObjectModel(description) }
}

extension SQLiteStore {
  /// Every transaction of the history, or those that a query selects.
  func transactions(_ query: HistoryQuery = HistoryQuery()) throws -> [HistoryTransaction] {
    var all: [HistoryTransaction] = []
    try history?.forEachTransaction(query) { all.append($0) }
    return all
  }
}

extension PersistentStoreCoordinator {
  /// Every transaction in the history of the only store.
  func transactions(_ query: HistoryQuery = HistoryQuery()) throws -> [HistoryTransaction] {
    var all: [HistoryTransaction] = []
    try openStores[0].history?.forEachTransaction(query) { all.append($0) }
    return all
  }
}

/// Runs `body` with a coordinator over a new store with a history.
func withHistory(
  options: StoreOptions = StoreOptions(tracksHistory: true),
  _ body: (PersistentStoreCoordinator, URL) throws -> Void
) throws {
  try withTemporaryStore { url in
    let coordinator = PersistentStoreCoordinator(model: try HistoryModel.make())
    try coordinator.addStore(at: url, options: options)
    try body(coordinator, url)
    for store in coordinator.persistentStores { try coordinator.remove(store) }
  }
}

/// A change in words, such as `update Person 1: age, name`.
func words(_ change: HistoryChange) -> String {
  let object = "\(change.changeType) \(change.changedObjectID.entityName) \(change.changedObjectID.primaryKey ?? 0)"
  return object + (change.updatedProperties.map { ": " + $0.sorted().joined(separator: ", ") } ?? "")
}
