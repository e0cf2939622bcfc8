import Foundation

/// A value that is computed once, on first access.
// @unchecked Sendable: `state` is accessed only while `lock` is held, or in `deinit`, which runs alone.
final class Lazy<Value: Sendable>: @unchecked Sendable {
  private enum State {
    case pending(@Sendable () -> Value)
    /// A pointer, so that the class has the same layout for every `Value`. Otherwise the runtime would take more than
    /// twice as long to create the class for each kind of value, and opening a store uses nine kinds.
    case known(UnsafeMutablePointer<Value>)
  }

  private let lock = NSLock()
  private var state: State

  init(_ compute: @escaping @Sendable () -> Value) { state = .pending(compute) }

  deinit {
    guard case .known(let value) = state else { return }
    value.deinitialize(count: 1)
    value.deallocate()
  }

  var value: Value {
    lock.lock()
    defer { lock.unlock() }
    switch state {
    case .known(let value): return value.pointee
    case .pending(let compute):
      let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)
      value.initialize(to: compute())
      state = .known(value)
      return value.pointee
    }
  }
}
