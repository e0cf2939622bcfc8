import Foundation

/// A value of the imported data: of JSON, or of dictionaries and arrays in code.
enum ImportValue: Sendable {
  /// A value other than an array or dictionary; null for none.
  case plain(GivenValue)
  case list([ImportValue])
  case fields([String: ImportValue])

  init(_ json: JSONElement) {
    self =
      switch json {
      case .null: .plain(.null)
      case .boolean(let value): .plain(.value(.boolean(value)))
      case .integer(let value): .plain(.value(.integer(value)))
      case .number(let value): .plain(.value(.double(value)))
      case .decimal(let value): .plain(.value(.decimal(value)))
      case .string(let value): .plain(.value(.string(value)))
      case .array(let values): .list(values.map(ImportValue.init))
      case .object(let members): .fields(members.mapValues(ImportValue.init))
      }
  }

  /// - Throws: ``PersistenceError/Code/typeMismatch`` for a value of a type that no attribute has.
  init(_ value: Any?, key: String) throws {
    if let given = GivenValue(value) {
      self = .plain(given)
    } else if let fields = value as? [String: Any?] ?? (value as? [String: Any]) {
      var members: [String: ImportValue] = Dictionary()
      for (name, field) in fields { members[name] = try ImportValue(field, key: "\(key).\(name)") }
      self = .fields(members)
    } else if let values = value as? [Any?] ?? (value as? [Any]) {
      self = .list(try values.enumerated().map { try ImportValue($1, key: "\(key)[\($0)]") })
    } else {
      throw PersistenceError(
        .typeMismatch, at: .init(key: key),
        "Values of type \(value.map { "\(type(of: $0))" } ?? "nil") can't be imported.",
        fix: "Use numbers, strings, dates, data and identifiers, or arrays and dictionaries of them.")
    }
  }

  /// The value as `Any`, with null in arrays as `NSNull`.
  var any: Any {
    switch self {
    case .plain(.value(let value)): DynamicValue.any(value) ?? NSNull()
    case .plain(.float(let value)): value
    case .list(let values): values.map(\.any)
    case .fields(let members): members.mapValues(\.any)
    }
  }

  var isNull: Bool { if case .plain(let value) = self { value == .null } else { false } }

  /// Returns the value of a key, or of a path with dots into nested data; nil if it is missing.
  subscript(key: String) -> ImportValue? {
    guard case .fields(let members) = self else { return nil }
    if let value = members[key] { return value }
    guard let dot = key.firstIndex(of: ".") else { return nil }
    return members[String(key[..<dot])]?[String(key[key.index(after: dot)...])]
  }
}
