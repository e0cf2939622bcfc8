import Foundation

/// A value of the data that objects are made from: of JSON, or of dictionaries and arrays in code.
enum ImportValue: Sendable, Hashable {
  /// A value that isn't a list and has no fields; null for none.
  case plain(StoredValue)
  case list([ImportValue])
  case fields([String: ImportValue])

  init(_ json: JSONValue) {
    self =
      switch json {
      case .null: .plain(.null)
      case .boolean(let value): .plain(.boolean(value))
      case .integer(let value): .plain(.integer(value))
      case .number(let value): .plain(.double(value))
      case .string(let value): .plain(.string(value))
      case .array(let values): .list(values.map(ImportValue.init))
      case .object(let members): .fields(members.mapValues(ImportValue.init))
      }
  }

  /// - Throws: ``PersistError/Code/typeMismatch`` for a value of a type that no attribute has.
  init(_ value: Any?, key: String) throws {
    switch value {
    case nil, is NSNull: self = .plain(.null)
    case let value as StoredValue: self = .plain(value)
    case let value as Bool: self = .plain(.boolean(value))
    case let value as any BinaryInteger:
      self = .plain(Int64(exactly: value).map(StoredValue.integer) ?? .string("\(value)"))
    // By its shortest text: a float's 0.1 isn't the double's next to it.
    case let value as Float:
      self = .plain(Decimal(string: "\(value)").map(StoredValue.decimal) ?? .double(Double(value)))
    case let value as any BinaryFloatingPoint: self = .plain(.double(Double(value)))
    case let value as Decimal: self = .plain(.decimal(value))
    case let value as String: self = .plain(.string(value))
    case let value as Substring: self = .plain(.string(String(value)))
    case let value as Date: self = .plain(.date(value))
    case let value as Data: self = .plain(.data(value))
    case let value as UUID: self = .plain(.uuid(value))
    case let value as URL: self = .plain(.uri(value.absoluteString))
    case let value as NSNumber: self = .plain(Self.number(value))
    case let fields as [String: Any?]:
      var members: [String: ImportValue] = [:]
      for (name, field) in fields { members[name] = try ImportValue(field, key: "\(key).\(name)") }
      self = .fields(members)
    case let values as [Any?]:
      self = .list(try values.enumerated().map { try ImportValue($1, key: "\(key)[\($0)]") })
    case let value?:
      throw PersistError(
        .typeMismatch, at: .init(key: key), "A \(type(of: value)) can't be imported.",
        fix: "Give numbers, texts, dates, data, identifiers, and lists and dictionaries of them.")
    }
  }

  private static func number(_ value: NSNumber) -> StoredValue {
    Int64(exactly: value.doubleValue).map(StoredValue.integer) ?? .double(value.doubleValue)
  }

  /// The value for code that takes anything; null within a list as `NSNull`.
  var any: Any {
    switch self {
    case .plain(let value): DynamicConversion.any(value) ?? NSNull()
    case .list(let values): values.map(\.any)
    case .fields(let members): members.mapValues(\.any)
    }
  }

  var isNull: Bool { self == .plain(.null) }

  /// The value of a key, or of a path with dots that reaches into nested data; nil where it isn't there.
  subscript(key: String) -> ImportValue? {
    guard case .fields(let members) = self else { return nil }
    if let value = members[key] { return value }
    guard let dot = key.firstIndex(of: ".") else { return nil }
    return members[String(key[..<dot])]?[String(key[key.index(after: dot)...])]
  }
}
