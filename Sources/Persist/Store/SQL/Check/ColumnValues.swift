import Foundation

/// The condition for numbers of a greater magnitude. SQLite's `abs` fails for the least integer.
private func outside(_ magnitude: Double, _ value: SQLText) -> SQLText {
  "\(value) > \(real: magnitude) OR \(value) < \(real: -magnitude)"
}

/// The values of an attribute type in SQLite's columns.
struct ColumnValues: Sendable {
  /// The storage classes of the values.
  let classes: [String]
  /// The values of these classes that may not be of the type; ``contains(_:)`` decides. Nil if all of them are.
  let suspects: (@Sendable (SQLText) -> SQLText)?
  private let holds: @Sendable (SQLValue) -> Bool

  private init(
    _ classes: String..., suspects: (@Sendable (SQLText) -> SQLText)? = nil,
    holds: @escaping @Sendable (SQLValue) -> Bool = { _ in false }
  ) {
    self.classes = classes
    self.suspects = suspects
    self.holds = holds
  }

  static let integers = ColumnValues("integer")

  /// Nil if a column of the type can contain every value.
  ///
  /// A column's affinity converts integers to reals and vice versa, so that both occur for every non-integer number
  /// type. A decimal may be a number or text, and a UUID bytes or text.
  init?(_ type: AttributeType) {
    switch type {
    case .int64: self = .integers
    case .int16, .int32:
      let range = type.integerRange
      self.init(
        "integer",
        suspects: { "\($0) NOT BETWEEN \(number: range.lowerBound) AND \(number: range.upperBound)" })
    case .boolean: self.init("integer", suspects: { "\($0) NOT IN (0, 1)" })
    case .double: self.init("integer", "real")
    case .float:
      let greatest = Double(Float.greatestFiniteMagnitude)
      self.init(
        "integer", "real",
        suspects: { "(\(outside(greatest, $0))) AND NOT (\(outside(.greatestFiniteMagnitude, $0)))" },
        // A double that is rounded to a float's greatest number is one.
        holds: { if case .double(let number) = $0 { Float(number).isFinite } else { false } })
    case .date: self.init("integer", "real", suspects: { outside(.greatestFiniteMagnitude, $0) })
    case .string, .uri: self.init("text")
    case .binary, .transformable: self.init("blob")
    case .uuid:
      self.init(
        "blob", "text", suspects: { "typeof(\($0)) = 'text' OR length(\($0)) <> 16" },
        holds: { if case .text(let text) = $0 { UUID(uuidString: text) != nil } else { false } })
    case .decimal:
      self.init(
        "integer", "real", "text", "blob",
        // A decimal's exponent is from -128 to 127.
        suspects: {
          "typeof(\($0)) IN ('text', 'blob') OR \(outside(1e127, $0)) OR (\($0) <> 0 AND NOT (\(outside(1e-120, $0))))"
        },
        holds: { value in
          let text: String? =
            switch value {
            case .text(let text): text
            case .blob(let data): String(decoding: data, as: UTF8.self)
            default: nil
            }
          return (text.map { DecimalText($0) != nil } ?? true) && value.decimalValue.map { !$0.isNaN } ?? false
        })
    case .composite, .objectID, .undefined: return nil
    }
  }

  /// Whether a value that the query returned is of the type after all.
  func contains(_ value: SQLValue) -> Bool {
    classes.contains(value.storageClass) && holds(value)
  }
}

extension SQLValue {
  fileprivate var storageClass: String {
    switch self {
    case .null: "null"
    case .integer: "integer"
    case .double: "real"
    case .text: "text"
    case .blob: "blob"
    }
  }
}

extension SQLText {
  /// Values of other storage classes, and those that may not be of the type.
  static func values(
    in column: String, of table: String, besides values: ColumnValues, entityNumbers: [Int]
  ) -> SQLText {
    let allowed = (["null"] + values.classes).map { "\(literal: $0)" as SQLText }.joined(separator: ", ")
    let name: SQLText = "\(name: column)"
    let suspects: SQLText = values.suspects.map { " OR \($0(name))" } ?? ""
    return """
      SELECT Z_PK, Z_ENT, \(name), NULL FROM \(name: table) \
      WHERE (typeof(\(name)) NOT IN (\(allowed))\(suspects)) AND Z_ENT IN (\(numbers: entityNumbers))
      """
  }
}
