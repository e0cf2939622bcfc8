/// A value that is computed once, on first access. Copies share it.
@frozen @usableFromInline
package struct Lazy<Value: Sendable>: Sendable {
  @usableFromInline
  enum State {
    case pending(@Sendable () -> Value)
    case known(Value)
  }

  @usableFromInline let state: LockProtected<State>

  @inlinable
  package init(_ compute: @escaping @Sendable () -> Value) { state = LockProtected(.pending(compute)) }

  /// The value. The first access computes it, while others wait.
  @inlinable package var value: Value {
    state.withLock { state in
      switch state {
      case .known(let value): return value
      case .pending(let compute):
        let value = compute()
        state = .known(value)
        return value
      }
    }
  }
}
