import Foundation

/// The values that an observer wants to get.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt

  /// Creates options from bits.
  public init(rawValue: UInt) { self.rawValue = rawValue }

  /// The value after a change.
  public static let new = Self(rawValue: 1)
  /// The value before a change.
  public static let old = Self(rawValue: 2)
  /// A call at once, with the present value.
  public static let initial = Self(rawValue: 4)
  /// A call before each change, too. Without effect here.
  public static let prior = Self(rawValue: 8)
}

/// The kinds of changes of an observed property.
public enum NSKeyValueChange: UInt, Sendable {
  /// Another value was set.
  case setting = 1
  /// Members were inserted.
  case insertion = 2
  /// Members were removed.
  case removal = 3
  /// Members were replaced.
  case replacement = 4
}

/// A change of an observed property.
public struct NSKeyValueObservedChange<Value> {
  /// The kind of the change.
  public typealias Kind = NSKeyValueChange
  /// The kind of the change.
  public let kind: Kind
  /// The value after the change, if the observer wants it.
  public let newValue: Value?
  /// The value before the change, if the observer wants it.
  public let oldValue: Value?
  /// Nil: the properties that can be observed here have no members.
  public let indexes: IndexSet?
  /// Whether the call comes before the change, as none does here.
  public let isPrior: Bool
}

// Unchecked: what changes is behind a lock.
/// An observation, which ends when it is invalidated or released.
open class NSKeyValueObservation: NSObject, @unchecked Sendable {
  private let cancellation: Locked<(() -> Void)?>

  init(_ cancel: @escaping () -> Void) { cancellation = Locked(cancel) }

  deinit { invalidate() }

  /// Ends the observation.
  open func invalidate() {
    let cancel = cancellation.withLock { cancel in
      defer { cancel = nil }
      return cancel
    }
    cancel?()
  }
}

/// The observers of one property.
// Unchecked: what changes is behind a lock.
final class PropertyObservers<Value>: @unchecked Sendable {
  private typealias Observer = (options: NSKeyValueObservingOptions, call: (NSKeyValueObservedChange<Value>) -> Void)
  private let state: Locked<(value: Value, next: Int, observers: [Int: Observer])>

  init(_ value: Value) { state = Locked((value: value, next: 0, observers: [:])) }

  func add(
    _ options: NSKeyValueObservingOptions, _ call: @escaping (NSKeyValueObservedChange<Value>) -> Void
  ) -> NSKeyValueObservation {
    let (number, value) = state.withLock { state in
      state.next += 1
      state.observers[state.next] = (options, call)
      return (state.next, state.value)
    }
    if options.contains(.initial) { call(Self.change(options, from: nil, to: value)) }
    return NSKeyValueObservation { [weak self] in self?.state.withLock { $0.observers[number] = nil } }
  }

  /// Tells the observers of a new value.
  func set(_ value: Value) {
    let (old, observers) = state.withLock { state in
      defer { state.value = value }
      return (state.value, state.observers.sorted { $0.key < $1.key }.map(\.value))
    }
    for observer in observers { observer.call(Self.change(observer.options, from: old, to: value)) }
  }

  private static func change(
    _ options: NSKeyValueObservingOptions, from old: Value?, to new: Value
  ) -> NSKeyValueObservedChange<Value> {
    NSKeyValueObservedChange(
      kind: .setting, newValue: options.contains(.new) ? new : nil, oldValue: options.contains(.old) ? old : nil,
      indexes: nil, isPrior: false)
  }
}
