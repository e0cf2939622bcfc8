public import Foundation

/// The place of a change set in a hub.
public struct SyncEntry: Sendable, Hashable, Comparable {
  /// The replica that made the changes.
  public var replica: UUID
  /// The number of the change set among those of the replica, from 1.
  public var number: Int64

  /// Creates an entry from its parts.
  public init(replica: UUID, number: Int64) { (self.replica, self.number) = (replica, number) }

  /// Whether the entry is a part of a snapshot: the state of a replica, from which others begin.
  public var isSnapshot: Bool { replica.uuid.6 >> 4 == 15 }

  /// An identity for a snapshot: a UUID of a version that is never used for others.
  static func snapshot(_ random: UUID) -> UUID {
    var bytes = random.uuid
    bytes.6 |= 0xF0
    return UUID(uuid: bytes)
  }

  public static func < (left: SyncEntry, right: SyncEntry) -> Bool {
    left.replica == right.replica
      ? left.number < right.number : left.replica.uuidString < right.replica.uuidString
  }
}

/// A hub's record of a replica.
public struct ReplicaPosition: Sendable, Hashable, Codable {
  /// The replica.
  public var replica: UUID
  /// The number of its last change set.
  public var sent: Int64
  /// The change sets of others that it has applied: for each replica, all up to a number.
  public var received: [UUID: Int64]
  /// The time of its last synchronization, by its own clock.
  public var date: Date

  /// Creates a position from its parts.
  public init(replica: UUID, sent: Int64, received: [UUID: Int64], date: Date) {
    (self.replica, self.sent, self.received, self.date) = (replica, sent, received, date)
  }
}

/// A place where replicas exchange change sets: a folder, a store, a server.
///
/// A hub stores bytes under entries and never changes them. It needs no knowledge of their content, and no lock: each
/// replica writes only its own entries. An entry may become visible to others late, and before those with smaller
/// numbers. Entries that are parts of large values (``SyncEntry/isPart``) aren't listed.
public protocol SyncHub: Sendable {
  /// Returns the entries of all replicas whose numbers are greater than those given; all entries of other replicas.
  func entries(after numbers: [UUID: Int64]) async throws -> [SyncEntry]
  /// Returns the content of an entry; nil if there is none.
  func content(of entry: SyncEntry) async throws -> Data?
  /// Stores the content of an entry, completely or not at all.
  ///
  /// - Returns: False if there is such an entry with other content, which remains.
  func put(_ content: Data, as entry: SyncEntry) async throws -> Bool
  /// Returns whether there is an entry, for parts of large values, which aren't listed.
  func contains(_ entry: SyncEntry) async throws -> Bool
  /// Returns the entries of all parts of large values, so that a compaction deletes those that nothing names.
  func parts() async throws -> [SyncEntry]
  /// Deletes entries; those that don't exist are ignored.
  func remove(_ entries: [SyncEntry]) async throws
  /// Returns what is known about all replicas.
  func positions() async throws -> [ReplicaPosition]
  /// Records the position of a replica.
  func setPosition(_ position: ReplicaPosition) async throws
  /// Forgets the positions of replicas that haven't synchronized for long.
  func removePositions(of replicas: [UUID]) async throws
}

extension SyncHub {
  /// Reads the content of the entry.
  public func contains(_ entry: SyncEntry) async throws -> Bool { try await content(of: entry) != nil }

  /// Does nothing, so that all positions remain.
  public func removePositions(of replicas: [UUID]) async throws {}

  /// Returns none, so that all parts remain.
  public func parts() async throws -> [SyncEntry] { [] }
}
