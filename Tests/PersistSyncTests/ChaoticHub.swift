import Foundation
import PersistSync
import PersistTestSupport

/// A hub in memory whose deliveries are late, out of order, repeated and interrupted.
actor ChaoticHub: SyncHub {
  struct Interruption: Error {}

  private var contents: [SyncEntry: Data] = [:]
  /// All change sets that were ever stored.
  private(set) var everything: [Data] = []
  /// All parts of large values that were ever stored.
  private(set) var partContents: [SyncEntry: Data] = [:]
  private var known: [UUID: ReplicaPosition] = [:]
  private var random: SeededRandom
  private var isReliable = false
  /// Called with each stored entry.
  private let didPut: @Sendable (SyncEntry) -> Void
  /// Called with each delivered entry.
  private let didGet: @Sendable (SyncEntry) -> Void

  init(
    _ seed: UInt64, didPut: @escaping @Sendable (SyncEntry) -> Void = { _ in },
    didGet: @escaping @Sendable (SyncEntry) -> Void = { _ in }
  ) {
    random = SeededRandom(seed: seed)
    (self.didPut, self.didGet) = (didPut, didGet)
  }

  func becomeReliable() { isReliable = true }

  /// Begins another sequence of accidents.
  func restart(_ seed: UInt64) { random = SeededRandom(seed: seed) }

  /// Whether a request or its answer is lost.
  func isLost() -> Bool { happens(oneIn: 8) }

  /// Entries in another order.
  func shuffled(_ entries: [SyncEntry]) -> [SyncEntry] { isReliable ? entries : entries.shuffled(using: &random) }

  private func happens(oneIn odds: Int) -> Bool { !isReliable && Int.random(in: 0..<odds, using: &random) == 0 }

  func entries(after numbers: [UUID: Int64]) throws -> [SyncEntry] {
    if happens(oneIn: 20) { throw Interruption() }
    let all = contents.keys.filter { !$0.isPart && $0.number > numbers[$0.replica] ?? 0 }.sorted()
    guard !isReliable else { return all }
    return all.filter { _ in !happens(oneIn: 4) }.shuffled(using: &random)
  }

  func content(of entry: SyncEntry) throws -> Data? {
    if happens(oneIn: 20) { throw Interruption() }
    if happens(oneIn: 20) { return nil }
    if contents[entry] != nil { didGet(entry) }
    return contents[entry]
  }

  func put(_ content: Data, as entry: SyncEntry) throws -> Bool {
    if happens(oneIn: 20) { throw Interruption() }
    if let present = contents[entry] { return present == content }
    contents[entry] = content
    if entry.isPart { partContents[entry] = content } else { everything.append(content) }
    didPut(entry)
    // The answer is lost.
    if happens(oneIn: 20) { throw Interruption() }
    return true
  }

  func parts() -> [SyncEntry] {
    // Change sets that name them may still be invisible.
    isReliable ? contents.keys.filter(\.isPart) : []
  }

  func remove(_ entries: [SyncEntry]) throws {
    for entry in entries {
      if happens(oneIn: 20) { throw Interruption() }
      contents[entry] = nil
    }
  }

  func positions() -> [ReplicaPosition] { Array(known.values) }

  func removePositions(of replicas: [UUID]) throws {
    if happens(oneIn: 20) { throw Interruption() }
    for replica in replicas { known[replica] = nil }
  }

  func setPosition(_ position: ReplicaPosition) throws {
    if happens(oneIn: 20) { throw Interruption() }
    known[position.replica] = position
  }
}
