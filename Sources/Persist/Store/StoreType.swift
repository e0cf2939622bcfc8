/// The kinds of stores that there are.
///
/// Core Data's XML and binary stores aren't among them: they are whole files in memory, which an
/// ``inMemory`` store that is moved to a file is too.
public struct StoreType: RawRepresentable, Sendable, Hashable {
  /// The name that the store's metadata have: `SQLite`, `InMemory`.
  public let rawValue: String

  public init(rawValue: String) { self.rawValue = rawValue }

  /// A file in Core Data's layout.
  public static let sqlite = StoreType(rawValue: "SQLite")
  /// A store that lives for as long as it is open.
  public static let inMemory = StoreType(rawValue: "InMemory")
}

extension StoreType: ExpressibleByStringLiteral, CustomStringConvertible {
  public init(stringLiteral name: String) { self.init(rawValue: name) }
  public var description: String { rawValue }
}
