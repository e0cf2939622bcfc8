import Foundation
import Logging
import Persist
import Synchronization

/// A server that repeats what another one writes, and only reads.
final class ServerReplica: Sendable {
  private let pool: ServerPool
  /// The time until which the replica isn't used, after it failed.
  private let pause = LockProtected<ContinuousClock.Instant?>(nil)

  /// The time for which a replica that failed isn't used again.
  private static let pauseLength = Duration.seconds(5)
  /// The maximum time that a read waits for the replica to reach what the program has seen.
  private static let catchUpLimit = Duration.milliseconds(100)

  init(_ address: ServerAddress, options: StoreOptions) { pool = ServerPool(address, options: options) }

  func close() { pool.close() }

  /// Reads from the replica.
  ///
  /// - Returns: Nil if the replica can't be used, or doesn't reach in time what the program has seen.
  func read<T>(
    _ watch: ServerWatch?, after seen: SeenPosition, _ body: (ServerSession) throws -> T
  ) throws -> T? {
    if let end = pause.withLock({ $0 }), ContinuousClock.now < end { return nil }
    let deadline = ContinuousClock.now + Self.catchUpLimit
    while true {
      do {
        return try pool.read(watch, at: .reaching(seen), body)
      } catch is SeenPosition.ReplicaBehind {
        guard ContinuousClock.now < deadline else { return nil }
        Thread.sleep(forTimeInterval: 0.002)
      } catch is ServerWatch.Changed {
        // The replica hasn't replayed a migration yet, or contains another store.
        return nil
      } catch is SeenPosition.NoReplica {
        pauseReading(because: "it isn't a replica")
        return nil
      } catch let failure as ServerFailure where failure.isOfReplica {
        if failure.isDisconnected { pauseReading(because: failure.message) }
        return nil
      }
    }
  }

  private func pauseReading(because reason: String) {
    pause.withLock { $0 = .now + Self.pauseLength }
    let place = pool.url?.absoluteString ?? ""
    Logger(label: "persist.postgresql").warning(
      "The replica \(place) isn't read for \(Self.pauseLength), but the primary server: \(reason)")
  }
}

extension ServerFailure {
  /// Whether the primary server may be able to do what a replica couldn't.
  fileprivate var isOfReplica: Bool {
    // A replica cancels statements that delay its replay. It may also be starting up, or not have replayed a change
    // of the tables yet.
    isDisconnected || isRepeatable || mayComeFromChange || ["57P03", "53300"].contains(state)
  }
}

/// Reads of one context from a replica, or from the primary server while the replica can't be used.
///
/// A context stays with one replica, so that what it reads never goes back in time.
final class ReplicaReads: ServerReadSource {
  private let replica: ServerReplica
  private let primary: ServerPool

  init(_ replica: ServerReplica, or primary: ServerPool) {
    self.replica = replica
    self.primary = primary
  }

  var isOneState: Bool { false }

  func read<T>(_ watch: ServerWatch?, _ body: (ServerSession) throws -> T) throws -> T {
    if let seen = primary.seenPosition, let result = try replica.read(watch, after: seen, body) { return result }
    return try primary.read(watch, at: primary.seenPosition.map { .recording($0) }, body)
  }
}

/// The replicas of a store's server, which contexts take in turn.
final class ServerReplicas: Sendable {
  private let replicas: [ServerReplica]
  private let next = Atomic(0)

  /// - Parameter options: Those of the store, whose schema the replicas contain too.
  init(of address: ServerAddress, _ options: StoreOptions) {
    replicas = options.readsFrom.compactMap { location in
      guard case .server(let replica) = location else { return nil }
      let own = ServerAddress(settings: replica.settings, schema: address.schema).ofReplica
      return ServerReplica(own, options: options)
    }
  }

  /// The next replica; nil if there is none.
  func take() -> ServerReplica? {
    guard !replicas.isEmpty else { return nil }
    let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
    return replicas[Int(UInt(bitPattern: number) % UInt(replicas.count))]
  }

  func close() {
    for replica in replicas { replica.close() }
  }
}
