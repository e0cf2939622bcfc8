/// The right to write to one store, got on one thread for work that follows on another.
///
/// Nobody else writes to the store until the reservation ends: the code within ``using(_:_:)`` writes without a wait.
// @unchecked: one thread after the other uses it and what it releases, never two at once: the one that makes it, then
// the one that uses and ends it.
final class WriteReservation: @unchecked Sendable {
  private let owner: AnyObject
  private let release: () -> Void

  /// - Parameters:
  ///   - owner: whoever gave the right, and recognises it by ``isHeld(of:)``.
  ///   - release: takes the right back.
  init(of owner: AnyObject, release: @escaping () -> Void) {
    self.owner = owner
    self.release = release
  }

  @TaskLocal private static var held: [WriteReservation] = []

  /// Runs code that writes with these reservations.
  static func using<T>(_ reservations: [WriteReservation], _ body: () throws -> T) rethrows -> T {
    try $held.withValue(reservations, operation: body)
  }

  /// Whether the running code holds a right of this owner's.
  static func isHeld(of owner: AnyObject) -> Bool { held.contains { $0.owner === owner } }

  /// Gives the right back; a transaction that wasn't used is rolled back.
  func end() { release() }
}
