import Foundation

/// The translation of an expression: a constant of the predicate, or a term with the kind of its values.
package enum SQLOperand {
  case constant(StoredValue)
  case term(SQLTerm, Kind)

  /// The kind of a term's non-null values.
  package enum Kind: Hashable {
    /// Only integers; Booleans are 1 and 0.
    case whole
    /// Integers or floating-point numbers.
    case number
    /// Seconds since 2001.
    case date
    /// A decimal column's values; see ``DecimalColumn``.
    case decimal
    /// Integers, floating-point numbers and a decimal column's values. SQL can compare and store them, but not compute
    /// with them: the numbers of each row determine whether the result is an integer, a double or a decimal.
    case mixed
    case text
    case uri
    case uuid
    /// Plain bytes.
    case data
    /// Keys of rows of a hierarchy; 0 means none.
    case key(root: Entity)

    /// Whether the values are SQL numbers and compare as such.
    @inline(never)
    var isNumeric: Bool { [.whole, .number, .date].contains(self) }
    /// Whether the values compare as decimals; see ``SQLFunction/decimalOrder``.
    var isDecimal: Bool { self == .decimal || self == .mixed }
    var isText: Bool { self == .text || self == .uri }

    /// The kind of an attribute's column; nil if SQL can't compare its values.
    init?(_ attribute: AttributeDescription) {
      switch SlotForm(attribute) {
      case .integer, .boolean: self = .whole
      case .double: self = .number
      case .date: self = .date
      case .decimal: self = .decimal
      case .string: self = .text
      case .uri: self = .uri
      case .uuid: self = .uuid
      case .data: self = .data
      case .externalData, .none: return nil
      }
    }
  }

  /// The representation of a constant in a comparison with a term.
  enum Comparable {
    case value(SQLValue)
    /// No value of the term's kind equals it or is ordered relative to it.
    case nothing
  }

  /// A constant as a value that compares with terms of a kind exactly as the evaluator compares them; nil if SQL has no
  /// such value.
  static func comparable(_ constant: StoredValue, with kind: Kind) -> Comparable? {
    switch (kind, constant) {
    case (_, .null): nil
    case (.whole, .string(let text)), (.number, .string(let text)):
      Number(text: text).map(comparable) ?? .nothing
    case (.whole, _), (.number, _), (.date, _): Number(constant).map(comparable) ?? .nothing
    case (.decimal, .string(let text)), (.mixed, .string(let text)): Number(text: text).map(decimal) ?? .nothing
    case (.decimal, _), (.mixed, _): Number(constant).map(decimal) ?? .nothing
    case (.text, .string(let text)), (.text, .uri(let text)), (.uri, .string(let text)), (.uri, .uri(let text)):
      .value(.text(text))
    case (.text, .date), (.text, .data), (.text, .objectID), (.uri, .date), (.uri, .data), (.uri, .objectID): .nothing
    case (.uuid, .uuid(let uuid)): .value(.blob(uuid.data))
    case (.uuid, .string(let text)):
      UUID(uuidString: text).map { uuid in .value(.blob(uuid.data)) } ?? .nothing
    case (.data, .data(let data)): .value(.blob(data))
    default: nil
    }
  }

  /// A number for comparison in SQL; nil for a decimal between two doubles.
  private static func comparable(_ number: Number) -> Comparable? {
    switch number {
    case .integer(let value): return .value(.integer(value))
    case .double(let value): return value.isNaN ? .nothing : .value(.double(value))
    case .decimal(let value):
      if let whole = number.whole { return .value(.integer(whole)) }
      let double = number.double
      // If the double's text equals the decimal, both compare equally with all other doubles. Far from zero, integers
      // lie between the doubles and would compare differently.
      guard abs(double) < 0x1p53, Number.double(double).decimal == value else { return nil }
      return .value(.double(double))
    }
  }

  /// A number for comparison with a decimal column: decimals as their texts.
  private static func decimal(_ number: Number) -> Comparable {
    switch number {
    case .integer(let value): .value(.integer(value))
    case .double(let value): value.isNaN ? .nothing : .value(.double(value))
    case .decimal(let value): value.isNaN ? .nothing : .value(.text(value.description))
    }
  }
}
