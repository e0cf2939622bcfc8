import Foundation

/// What an expression of a predicate is in SQL: a constant of the predicate, or a term with what is known of its
/// values.
enum SQLOperand {
  case constant(StoredValue)
  case term(SQLTerm, Kind)

  /// What the values of a term are, null aside.
  enum Kind: Hashable {
    /// Whole numbers and nothing else; truth values are 1 and 0.
    case whole
    /// Whole or floating-point numbers.
    case number
    /// Seconds since 2001.
    case date
    /// A decimal column's values; see ``DecimalColumn``.
    case decimal
    case text
    case uri
    case uuid
    /// Bytes that stand in the column as they are.
    case data
    /// Keys of rows of a hierarchy; 0 is none.
    case key(root: Entity)

    /// Whether the values are SQL's numbers and compare as such.
    var isNumeric: Bool { [.whole, .number, .date].contains(self) }
    var isText: Bool { self == .text || self == .uri }

    /// The kind of an attribute's column; nil where its values aren't for SQL to compare.
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

  /// What a constant is where it is compared with a term.
  enum Comparable {
    case value(SQLValue)
    /// Nothing of the term's kind equals it or has an order to it.
    case nothing
  }

  /// A constant as a value that compares with terms of a kind exactly as the evaluator compares the two; nil where SQL
  /// has none.
  static func comparable(_ constant: StoredValue, with kind: Kind) -> Comparable? {
    switch (kind, constant) {
    case (_, .null): nil
    case (.whole, .string(let text)), (.number, .string(let text)):
      Number(text: text).map(comparable) ?? .nothing
    case (.whole, _), (.number, _), (.date, _): Number(constant).map(comparable) ?? .nothing
    case (.decimal, .string(let text)): Number(text: text).map(decimal) ?? .nothing
    case (.decimal, _): Number(constant).map(decimal) ?? .nothing
    case (.text, .string(let text)), (.text, .uri(let text)), (.uri, .string(let text)), (.uri, .uri(let text)):
      .value(.text(text))
    case (.text, .date), (.text, .data), (.text, .objectID), (.uri, .date), (.uri, .data), (.uri, .objectID): .nothing
    case (.uuid, .uuid(let uuid)): .value(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }))
    case (.uuid, .string(let text)):
      UUID(uuidString: text).map { uuid in .value(.blob(withUnsafeBytes(of: uuid.uuid) { Data($0) })) } ?? .nothing
    case (.data, .data(let data)): .value(.blob(data))
    default: nil
    }
  }

  /// A number as SQL compares it: nil for a decimal between the doubles.
  private static func comparable(_ number: Number) -> Comparable? {
    switch number {
    case .integer(let value): return .value(.integer(value))
    case .double(let value): return value.isNaN ? .nothing : .value(.double(value))
    case .decimal(let value):
      if let whole = number.whole { return .value(.integer(whole)) }
      let double = number.double
      // Where the double's text is the decimal itself, both have the same order to all other doubles. Far from zero
      // whole numbers lie between the doubles, and the order to those would differ.
      guard abs(double) < 0x1p53, Number.double(double).decimal == value else { return nil }
      return .value(.double(double))
    }
  }

  /// A number for a comparison with a decimal column: decimals as their texts.
  private static func decimal(_ number: Number) -> Comparable {
    switch number {
    case .integer(let value): .value(.integer(value))
    case .double(let value): value.isNaN ? .nothing : .value(.double(value))
    case .decimal(let value): value.isNaN ? .nothing : .value(.text(value.description))
    }
  }
}
