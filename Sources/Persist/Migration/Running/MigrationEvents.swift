import Dispatch
import Foundation
import Synchronization

/// A migration as an asynchronous sequence of progress values; see
/// ``AutomaticMigrator/events(migrating:to:registry:options:)``.
///
/// There is an element for each new pass and entity, and for each thousandth of the work. Iterating throws the
/// migration's errors, and `CancellationError` in a canceled task.
public struct MigrationEvents: AsyncSequence, Sendable {
  public typealias Element = MigrationProgress

  let migrator: AutomaticMigrator
  let url: URL
  let version: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions

  /// Iterates over the progress of a migration. Releasing it cancels the migration.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var stream: AsyncThrowingStream<MigrationProgress, any Error>.Iterator

    public mutating func next() async throws -> MigrationProgress? {
      if let event = try await stream.next() { return event }
      try Task.checkCancellation()
      return nil
    }
  }

  /// Starts the migration. Each iterator runs a migration of its own.
  public func makeAsyncIterator() -> AsyncIterator {
    let stream = AsyncThrowingStream<MigrationProgress, any Error> { continuation in
      let isLeft = Flag()
      continuation.onTermination = { _ in isLeft.raise() }
      Self.queue.async { continuation.finish(throwing: failure(telling: continuation, until: isLeft)) }
    }
    return AsyncIterator(stream: stream.makeAsyncIterator())
  }

  /// Migrates the store, and returns its error.
  ///
  /// - Parameter isLeft: whether the iteration has ended, which cancels the migration.
  private func failure(
    telling continuation: AsyncThrowingStream<MigrationProgress, any Error>.Continuation, until isLeft: Flag
  ) -> (any Error)? {
    var migrator = migrator
    let others = migrator.progress
    let last = LockProtected<MigrationProgress?>(nil)
    let teller: AutomaticMigrator.ProgressHandler = { state in
      let isWorthReporting = last.withLock { last in
        defer { if state.isWorthReporting(after: last) { last = state } }
        return state.isWorthReporting(after: last)
      }
      if isWorthReporting { continuation.yield(state) }
      return others?(state) != false && !isLeft.isRaised
    }
    migrator.progress = teller
    do {
      try migrator.migrate(storeAt: url, to: version, registry: registry, options: options)
      return nil
    } catch {
      return error
    }
  }

  private final class Flag: Sendable {
    private let value = Atomic(false)
    var isRaised: Bool { value.load(ordering: .relaxed) }
    func raise() { value.store(true, ordering: .relaxed) }
  }

  /// A queue with a thread for each migration.
  private static let queue = DispatchQueue(label: "Persist migrations", attributes: .concurrent)
}

extension MigrationProgress {
  fileprivate func isWorthReporting(after last: MigrationProgress?) -> Bool {
    guard let last else { return true }
    return hop != last.hop || pass != last.pass || entity != last.entity
      || Int(fraction * 1000) != Int(last.fraction * 1000)
  }
}
