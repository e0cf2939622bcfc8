/// A value that is computed once, on first access.
final class Lazy<Value: Sendable>: Sendable {
  private enum State {
    case pending(@Sendable () -> Value)
    case known(Value)
  }

  private let state: LockProtected<State>

  init(_ compute: @escaping @Sendable () -> Value) { state = LockProtected(.pending(compute)) }

  var value: Value {
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
