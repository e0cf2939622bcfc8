import Foundation

/// The types that keyed archives may contain besides property-list values.
enum ArchivedTypes {
  /// The conversion of one type's values to and from an archive.
  struct Entry: Sendable {
    let name: String
    /// Returns nil for a value of another type.
    let encode: @Sendable (Any) throws -> PropertyList?
    let decode: @Sendable (PropertyList) throws -> Any
  }

  private static let entries = LockProtected<(byName: [String: Entry], byType: [ObjectIdentifier: Entry])>(
    (Dictionary(), Dictionary()))

  static func register<Value: Codable & Sendable>(_ type: Value.Type, named name: String) {
    let entry = Entry(
      name: name,
      encode: { value in
        guard let value = value as? Value else { return nil }
        // The root of a property list must be an array or a dictionary, and a value may be neither.
        return try PropertyList(data: PropertyListEncoder().encode([value])).arrayValue?.first
      },
      decode: { list in
        let decoded = try PropertyListDecoder().decode([Value].self, from: PropertyList.array([list]).binaryData())
        guard let value = decoded.first else { preconditionFailure("A list of one value decodes as one.") }
        return value
      })
    entries.withLock {
      $0.byName[name] = entry
      $0.byType[ObjectIdentifier(type)] = entry
    }
  }

  static func entry(named name: String) -> Entry? { entries.withLock { $0.byName[name] } }

  static func entry(for value: Any) -> Entry? {
    let type = ObjectIdentifier(type(of: value) as Any.Type)
    return entries.withLock { $0.byType[type] }
  }
}
