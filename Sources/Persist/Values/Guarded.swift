import Foundation

/// A value behind a lock.
///
/// `Synchronization.Mutex` would do as well, but it locks inside a library that isn't built for the thread sanitizer,
/// which then reports races in every application of ours that is tried under it. It sees Foundation's lock.
// Sendable: the value is reached only with the lock held, and `sending` keeps others from holding a part of it.
package final class Guarded<Value>: @unchecked Sendable {
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
