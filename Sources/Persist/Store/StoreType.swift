/// The type of a store.
///
/// Core Data's XML and binary stores aren't supported. The product `PersistDocuments` has stores that are read and
/// written as a whole; while they are open, their type is ``inMemory``.
public struct StoreType: RawRepresentable, Sendable, Hashable {
  /// The name in the store's metadata: `SQLite`, `PostgreSQL`, `InMemory`.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// A file in Core Data's layout.
  public static let sqlite = StoreType(rawValue: "SQLite")
  /// A schema of a PostgreSQL database.
  public static let postgreSQL = StoreType(rawValue: "PostgreSQL")
  /// A store that exists only while it is open.
  public static let inMemory = StoreType(rawValue: "InMemory")
}

extension StoreType: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral name: String) { self.init(rawValue: name) }
  public var description: String { rawValue }
}
