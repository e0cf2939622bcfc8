import Foundation

/// A value behind a lock.
// Unchecked: the value is accessed only while the lock is held.
struct Locked<Value>: @unchecked Sendable {
  private final class Storage {
    let lock = NSLock()
    var value: Value

    init(_ value: Value) { self.value = value }
  }

  private let storage: Storage

  init(_ value: Value) { storage = Storage(value) }

  func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    storage.lock.lock()
    defer { storage.lock.unlock() }
    return try body(&storage.value)
  }
}

/// Hands a value to a closure that runs on another thread.
// Unchecked: Core Data's own interface hands values between queues; the code that calls it guards them.
struct Transferred<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// A reference that doesn't retain its object.
struct Weak<Object: AnyObject> {
  weak var object: Object?

  init(_ object: Object) { self.object = object }
}

/// Stops the program, because it breaks a contract that Core Data's interface has no error for.
func stop(_ message: String) -> Never { preconditionFailure(message) }
