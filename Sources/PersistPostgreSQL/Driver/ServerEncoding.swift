import Persist

/// The encoding of a database's texts, under the name that the server reports.
package struct ServerEncoding: Hashable, Sendable {
  package let name: String

  package init(name: String) { self.name = name }

  /// The only supported encoding. Another one doesn't have all characters, and orders texts by other bytes.
  package static let supported = ServerEncoding(name: "UTF8")

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` for another encoding.
  package func requireSupported() throws {
    guard self != Self.supported else { return }
    throw PersistenceError(
      .storeOpenFailed, "The database's encoding is \(name), but a store needs \(Self.supported.name).",
      fix: "Create a database with ENCODING '\(Self.supported.name)' TEMPLATE template0.")
  }
}
