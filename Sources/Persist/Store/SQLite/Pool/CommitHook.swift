import Foundation

/// Code that runs before each transaction of a store in memory is committed, in the transaction's state, and rolls it
/// back by throwing.
final class CommitHook: Sendable {
  private let body: @Sendable () throws -> Void
  /// The thread that runs the code; it may read the store meanwhile.
  private let thread = LockProtected<ObjectIdentifier?>(nil)

  init(_ body: @escaping @Sendable () throws -> Void) { self.body = body }

  /// Whether the calling thread runs the code.
  var isRunningHere: Bool {
    let current = ObjectIdentifier(Thread.current)
    return thread.withLock { $0 == current }
  }

  func run() throws {
    thread.withLock { $0 = ObjectIdentifier(Thread.current) }
    defer { thread.withLock { $0 = nil } }
    try body()
  }
}
