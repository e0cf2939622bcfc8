import Persist

/// The version of a server as its client library reports it: 150004 for 15.4.
package struct ServerVersion: Hashable, Comparable, CustomStringConvertible, Sendable {
  package let number: Int

  package init(number: Int) { self.number = number }

  /// The oldest supported version: numbers of transactions have 64 bits in it.
  package static let oldest = ServerVersion(number: 13_00_00)

  package static func < (left: ServerVersion, right: ServerVersion) -> Bool { left.number < right.number }

  package var description: String { "\(number / 10_000)" }

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` for a server that is too old.
  package func requireSupported() throws {
    guard self < Self.oldest else { return }
    throw PersistenceError(
      .storeOpenFailed, "The server is PostgreSQL \(self), which is too old.",
      fix: "Use PostgreSQL \(Self.oldest) or newer.")
  }
}
