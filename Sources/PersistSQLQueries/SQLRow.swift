import Foundation
public import Persist

/// A row that an ``SQLRequest`` selected.
public struct SQLRow: Sendable {
  /// The values of the columns, in the order of the request.
  public let values: [SQLValue]
  /// The names of the columns, which all rows of a result share.
  public let columnNames: [String]

  /// The value of a column by its name, in upper or lower case, as in SQL; nil if there is no such column.
  public subscript(name: String) -> SQLValue? {
    columnNames.firstIndex { $0.caseInsensitiveCompare(name) == .orderedSame }.map { values[$0] }
  }

  /// The value of a column as a Swift type.
  ///
  /// - Throws: `PersistenceError.Code.unknownProperty` if there is no such column; `typeMismatch` if the value is null
  ///   or of another type. An optional type accepts null.
  public subscript<Value: SQLRepresentable>(name: String, as type: Value.Type) -> Value {
    get throws {
      guard let value = self[name] else {
        throw PersistenceError(
          .unknownProperty, "The rows have no column '\(name)'.",
          fix: "The columns are \(columnNames.joined(separator: ", ")).")
      }
      return try Self.converted(value, of: name, as: type)
    }
  }

  /// The value of a column by its position, from 0, as a Swift type. Traps if there is no such column.
  ///
  /// - Throws: `PersistenceError.Code.typeMismatch` if the value is null or of another type. An optional type accepts
  ///   null.
  public subscript<Value: SQLRepresentable>(position: Int, as type: Value.Type) -> Value {
    get throws { try Self.converted(values[position], of: columnNames[position], as: type) }
  }

  private static func converted<Value: SQLRepresentable>(
    _ value: SQLValue, of name: String, as type: Value.Type
  ) throws -> Value {
    guard let converted = Value(sql: value) else {
      let kind = switch value {
      case .null: "null"
      case .integer: "an integer"
      case .double: "a floating-point number"
      case .text: "a text"
      case .blob: "bytes"
      }
      throw PersistenceError(.typeMismatch, "The value of the column '\(name)' is \(kind), not \(type).")
    }
    return converted
  }
}
