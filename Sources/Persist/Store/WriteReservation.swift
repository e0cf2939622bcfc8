import Synchronization

/// The right to write to one store, acquired on one thread for work on another.
///
/// No other writer can write to the store until the reservation ends; code within ``using(_:_:)`` writes without
/// waiting. Before its use begins, a reservation can be taken back, because the thread that it is for may itself wait
/// for the store.
// @unchecked: threads use it and what it releases one after the other, never concurrently: first the one that creates
// it, then, as `state` tells, the one that uses and ends it or one that takes it back.
package final class WriteReservation: @unchecked Sendable {
  private enum State {
    case unused, used, ended
  }

  private let owner: AnyObject
  private let release: () -> Void
  private let state = LockProtected(State.unused)

  /// - Parameters:
  ///   - owner: The object that granted the right, which checks it with ``isHeld(of:)``.
  ///   - release: Releases the right.
  init(of owner: AnyObject, release: @escaping () -> Void) {
    self.owner = owner
    self.release = release
    Self.count.add(1, ordering: .relaxed)
  }

  deinit { Self.count.subtract(1, ordering: .relaxed) }

  /// The number of reservations, so that a program without any doesn't look for its own. Code that holds one has seen
  /// it being counted.
  private static let count = Atomic(0)

  @TaskLocal private static var held: [WriteReservation] = []

  /// Runs code that writes under these reservations, once for each.
  ///
  /// - Returns: Nil, without running the code, if one of the reservations has been taken back.
  static func using<T>(_ reservations: [WriteReservation], _ body: () throws -> T) rethrows -> T? {
    guard reservations.allSatisfy({ $0.change(from: .unused, to: .used) }) else { return nil }
    return try $held.withValue(reservations, operation: body)
  }

  /// Whether the running code holds a reservation of this owner.
  static func isHeld(of owner: AnyObject) -> Bool {
    count.load(ordering: .relaxed) > 0 && held.contains { $0.owner === owner }
  }

  /// Releases the right, if it hasn't been taken back; an unused transaction is rolled back.
  func end() {
    if change(from: .used, to: .ended) || change(from: .unused, to: .ended) { release() }
  }

  /// Releases the right unless its use has begun.
  func takeBack() {
    if change(from: .unused, to: .ended) { release() }
  }

  /// - Returns: False if the state is another one.
  private func change(from old: State, to new: State) -> Bool {
    state.withLock { state in
      guard state == old else { return false }
      state = new
      return true
    }
  }
}
