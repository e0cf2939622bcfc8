package import Foundation

/// The lossless representation of a decimal in a column.
///
/// Core Data's columns for decimals have SQLite's numeric affinity: text that looks like a number becomes an integer or
/// a double. This preserves integers of up to 64 bits and the shortest text of a double, which includes every number of
/// up to 15 digits. They are stored as numbers, which every reader of Core Data stores understands. Other decimals are
/// stored as text in a blob, which affinity doesn't affect.
///
/// - SeeAlso: <https://sqlite.org/datatype3.html#type_affinity>
package enum DecimalColumn: Sendable, Equatable {
  case integer(Int64)
  case double(Double)
  case text(String)

  /// Nil for NaN.
  package init?(_ value: Decimal) {
    guard !value.isNaN else { return nil }
    let text = value.description
    if let whole = Int64(text) {
      self = .integer(whole)
      return
    }
    if let double = Double(text), double.isFinite, DecimalText(double.description) == DecimalText(text) {
      self = .double(double)
    } else {
      self = .text(text)
    }
  }
}

extension SQLValue {
  package init(_ column: DecimalColumn) {
    switch column {
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .double(number)
    case .text(let text): self = .blob(Data(text.utf8))
    }
  }

  /// The decimal that a decimal column's value represents; nil if it represents none.
  ///
  /// A double represents its shortest text, which has up to 17 digits. SQLite's own text of it is rounded to 15.
  package var decimalValue: Decimal? {
    switch self {
    case .null: nil
    case .integer(let number): Decimal(number)
    case .double(let number): Decimal(storedText: number.description)
    case .text(let text): Decimal(storedText: text)
    case .blob(let data): Decimal(storedText: String(decoding: data, as: UTF8.self))
    }
  }
}

extension SQLValue {
  /// The value as the store represents it in an attribute's column; nil for no value.
  package init?(_ value: StoredValue, of attribute: AttributeDescription) {
    switch value {
    case .null, .objectID, .composite: return nil
    case .boolean(let value): self = .integer(value ? 1 : 0)
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value)
    case .string(let value), .uri(let value): self = .text(value)
    case .date(let value): self = .double(value.timeIntervalSinceReferenceDate)
    case .decimal(let value):
      guard let column = DecimalColumn(value) else { return nil }
      self.init(column)
    case .uuid(let value):
      self = .blob(value.data)
    case .data(let value):
      self = .blob(attribute.storesMarkedBytes ? Data([1]) + value : value)
    }
  }
}
