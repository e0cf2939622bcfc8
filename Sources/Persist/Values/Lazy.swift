/// A value that is computed once, on first access. Copies share it.
package struct Lazy<Value: Sendable>: Sendable {
  private enum State {
    case pending(@Sendable () -> Value)
    case known(Value)
  }

  private let state: LockProtected<State>

  package init(_ compute: @escaping @Sendable () -> Value) { state = LockProtected(.pending(compute)) }

  /// The value. The first access computes it, while others wait.
  package var value: Value {
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
