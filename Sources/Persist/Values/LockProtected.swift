public import Foundation

/// A value behind a lock. Copies share the value.
///
/// `Synchronization.Mutex` would also work, but its locking code isn't instrumented for the thread sanitizer, which
/// would then report false races in every application that is tested with it. The sanitizer does see Foundation's lock.
///
/// This is a structure around a class that isn't generic, because the runtime creates the metadata of a generic class
/// for each kind of value when it is first needed. Opening a store uses some thirty kinds.
// Sendable: the value is accessed only while the lock is held, and `sending` prevents others from sharing a part of it.
@frozen @usableFromInline
package struct LockProtected<Value>: @unchecked Sendable {
  @usableFromInline let storage: LockedStorage

  @inlinable
  package init(_ value: sending Value) {
    let pointer = UnsafeMutablePointer<Value>.allocate(capacity: 1)
    pointer.initialize(to: value)
    storage = LockedStorage(pointer) { pointer in
      // Not deinitialized in place, which would need the metadata of `Value`.
      _ = pointer.assumingMemoryBound(to: Value.self).move()
      pointer.deallocate()
    }
  }

  @inlinable
  package func withLock<Result, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    storage.lock.lock()
    defer { storage.lock.unlock() }
    return try body(&storage.value.assumingMemoryBound(to: Value.self).pointee)
  }
}

/// A lock, and the memory of the value that it protects.
@usableFromInline
final class LockedStorage {
  @usableFromInline let lock = NSLock()
  @usableFromInline let value: UnsafeMutableRawPointer
  private let free: (UnsafeMutableRawPointer) -> Void

  @usableFromInline
  init(_ value: UnsafeMutableRawPointer, free: @escaping (UnsafeMutableRawPointer) -> Void) {
    self.value = value
    self.free = free
  }

  deinit { free(value) }
}
