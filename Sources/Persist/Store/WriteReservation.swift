import Foundation
import Synchronization

/// The right to write to one store, acquired on one thread for work on another.
///
/// No other writer can write to the store until the reservation ends; code within ``using(_:_:)`` writes without
/// waiting. Before its use begins, a reservation can be taken back, because the thread that it is for may itself wait
/// for the store.
// @unchecked: threads use it and what it releases one after the other, never concurrently: first the one that creates
// it, then, as `state` tells, the one that uses and ends it or one that takes it back.
package final class WriteReservation: @unchecked Sendable {
  private enum State: Equatable {
    case unused
    /// Used by the code that a thread runs, but not by tasks that the code starts.
    case used(ObjectIdentifier)
    case spent, ended
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
    let use = State.used(ObjectIdentifier(Thread.current))
    guard reservations.allSatisfy({ $0.change(from: .unused, to: use) }) else { return nil }
    defer { for reservation in reservations { _ = reservation.change(from: use, to: .spent) } }
    return try $held.withValue(reservations, operation: body)
  }

  /// Whether the running code holds a reservation of this owner.
  static func isHeld(of owner: AnyObject) -> Bool {
    guard count.load(ordering: .relaxed) > 0 else { return false }
    let use = State.used(ObjectIdentifier(Thread.current))
    return held.contains { reservation in reservation.owner === owner && reservation.state.withLock { $0 == use } }
  }

  /// Releases the right, if it hasn't been taken back; an unused transaction is rolled back.
  func end() {
    let wasEnded = state.withLock { state in
      defer { state = .ended }
      return state == .ended
    }
    if !wasEnded { release() }
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
