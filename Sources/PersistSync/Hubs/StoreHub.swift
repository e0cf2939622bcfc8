public import Foundation
public import Persist

/// A hub in a store, in a file or on a server.
///
/// The change sets are in the store's table of attached entries, beside its rows, which they don't change. Make the
/// store a replica too, so that programs can query what devices have sent:
///
/// ```swift
/// let hub = try StoreHub(coordinator)
/// let replica = try Replica(coordinator, identifiedBy: ["Note": "id"])
/// try await replica.synchronize(with: hub)
/// ```
public struct StoreHub: SyncHub {
  private let coordinator: PersistentStoreCoordinator
  private let identifier: String

  /// Uses a store as a hub.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator of the store.
  ///   - store: The store; nil for the coordinator's first one with a history.
  /// - Throws: `PersistenceError.Code.invalidRequest` if the store has no history.
  public init(_ coordinator: PersistentStoreCoordinator, store: StoreInfo? = nil) throws {
    guard let found = try coordinator.storesWithHistory(store.map { [$0.identifier] }).first else {
      throw PersistenceError(.invalidRequest, "The coordinator has no store.", fix: "Add a store with a history.")
    }
    (self.coordinator, identifier) = (coordinator, found.store.identifier)
  }

  // MARK: Entries

  /// The tables: replicas, numbers, contents and positions.
  private enum Table: Character {
    case replica = "k"
    case number = "g"
    case content = "h"
    case position = "p"

    var prefix: Data { Data([rawValue.asciiValue ?? 0]) }

    func key(_ replica: UUID, _ number: Int64? = nil) -> Data {
      var writer = ByteWriter()
      writer.raw(prefix)
      writer.uuid(replica)
      if let number { writer.fixed(UInt64(bitPattern: number)) }
      return writer.data
    }
  }

  private func history() throws -> any StoreHistory {
    guard let found = try coordinator.storesWithHistory([identifier]).first else {
      throw PersistenceError(
        .invalidRequest, "The store of the hub is no longer open.", fix: "Add it to the coordinator again.")
    }
    return found.history
  }

  private func inBackground<Result: Sendable>(
    _ body: @escaping @Sendable (any StoreHistory) throws -> Result
  ) async throws -> Result {
    try await coordinator.threads.background.run { try body(history()) }
  }

  private static func entries(_ history: any StoreHistory, _ table: Table) throws -> [AttachedEntry] {
    try history.attachedEntries([AttachedRange(prefix: table.prefix)], limit: .max)[0]
  }

  /// Lists the entries that are newer than those given, without reading their content.
  public func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry] {
    try await inBackground { history in
      let replicas = try Self.entries(history, .replica).map { entry in
        var reader = ByteReader(entry.key.dropFirst())
        return try reader.uuid()
      }
      let ranges = replicas.compactMap { replica -> AttachedRange? in
        let (next, overflow) = (numbers[replica] ?? 0).addingReportingOverflow(1)
        guard !overflow else { return nil }
        var range = AttachedRange(prefix: Table.number.key(replica))
        range.first = Table.number.key(replica, next)
        return range
      }
      return try history.attachedEntries(ranges, limit: .max).joined().map { entry in
        var reader = ByteReader(entry.key.dropFirst())
        return SyncEntry(replica: try reader.uuid(), number: Int64(bitPattern: try reader.fixed64()))
      }.sorted()
    }
  }

  /// Lists the parts of large values, without reading them.
  public func parts() async throws -> [SyncEntry] {
    try await inBackground { history in
      try Self.entries(history, .number).map { entry in
        var reader = ByteReader(entry.key.dropFirst())
        return SyncEntry(replica: try reader.uuid(), number: Int64(bitPattern: try reader.fixed64()))
      }.filter(\.isPart)
    }
  }

  private static func content(_ entry: SyncEntry, _ history: any StoreHistory) throws -> Data? {
    let key = Table.content.key(entry.replica, entry.number)
    return try history.attachedEntries([AttachedRange(key: key)], limit: 1)[0].first?.value
  }

  /// Reads the content of an entry; nil if there is none.
  public func content(of entry: SyncEntry) async throws -> Data? {
    try await inBackground { try Self.content(entry, $0) }
  }

  /// Writes the content of an entry in one transaction.
  public func put(_ content: Data, as entry: SyncEntry) async throws -> Bool {
    try await inBackground { history in
      let key = Table.content.key(entry.replica, entry.number)
      var entries = AttachedEntries()
      entries.values = [key: content, Table.number.key(entry.replica, entry.number): Data()]
      // Others are found by their replicas.
      if !entry.isPart { entries.values[Table.replica.key(entry.replica)] = Data() }
      entries.unchanged = [key: Data?.none]
      do {
        try history.write(entries)
        return true
      } catch let error as PersistenceError where error.code == .mergeConflict {
        return try Self.content(entry, history) == content
      }
    }
  }

  /// Returns whether there is an entry, without reading its content.
  public func contains(_ entry: SyncEntry) async throws -> Bool {
    try await inBackground { history in
      let range = AttachedRange(key: Table.number.key(entry.replica, entry.number))
      return try !history.attachedEntries([range], limit: 1)[0].isEmpty
    }
  }

  /// Deletes entries in one transaction.
  public func remove(_ entries: [SyncEntry]) async throws {
    guard !entries.isEmpty else { return }
    try await inBackground { history in
      var changes = AttachedEntries()
      for entry in entries {
        for table in [Table.content, .number] {
          changes.values.updateValue(nil, forKey: table.key(entry.replica, entry.number))
        }
      }
      try history.write(changes)
    }
  }

  // MARK: Positions

  /// Reads the positions of all replicas; unreadable ones are omitted.
  public func positions() async throws -> [ReplicaPosition] {
    try await inBackground { history in
      try Self.entries(history, .position).compactMap {
        try? JSONDecoder().decode(ReplicaPosition.self, from: $0.value)
      }
    }
  }

  /// Writes the position of a replica.
  public func setPosition(_ position: ReplicaPosition) async throws {
    let data = try JSONEncoder().encode(position)
    try await inBackground { history in
      var entries = AttachedEntries()
      entries.values = [Table.position.key(position.replica): data]
      try history.write(entries)
    }
  }

  /// Deletes the positions of replicas in one transaction.
  public func removePositions(of replicas: [UUID]) async throws {
    guard !replicas.isEmpty else { return }
    try await inBackground { history in
      var entries = AttachedEntries()
      for replica in replicas { entries.values.updateValue(nil, forKey: Table.position.key(replica)) }
      try history.write(entries)
    }
  }
}
