import Foundation

/// A value behind a lock.
///
/// `Synchronization.Mutex` would also work, but its locking code isn't instrumented for the thread sanitizer, which
/// would then report false races in every application that is tested with it. The sanitizer does see Foundation's lock.
// Sendable: the value is accessed only while the lock is held, and `sending` prevents others from sharing a part of it.
package final class LockProtected<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  package init(_ value: sending Value) { self.value = value }

  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
