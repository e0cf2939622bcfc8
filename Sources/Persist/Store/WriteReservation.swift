import Synchronization

/// The right to write to one store, acquired on one thread for work on another.
///
/// No other writer can write to the store until the reservation ends; code within ``using(_:_:)`` writes without
/// waiting.
// @unchecked: threads use it and what it releases one after the other, never concurrently: first the one that creates
// it, then the one that uses and ends it.
package final class WriteReservation: @unchecked Sendable {
  private let owner: AnyObject
  private let release: () -> Void

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

  /// Runs code that writes under these reservations.
  static func using<T>(_ reservations: [WriteReservation], _ body: () throws -> T) rethrows -> T {
    try $held.withValue(reservations, operation: body)
  }

  /// Whether the running code holds a reservation of this owner.
  static func isHeld(of owner: AnyObject) -> Bool {
    count.load(ordering: .relaxed) > 0 && held.contains { $0.owner === owner }
  }

  /// Releases the right; an unused transaction is rolled back.
  func end() { release() }
}
