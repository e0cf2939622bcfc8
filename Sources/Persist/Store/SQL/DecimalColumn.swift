import Foundation

/// How a decimal stands in a column, so that no digit is lost.
///
/// Core Data's columns for decimals have SQLite's numeric affinity: text that looks like a number becomes an integer or
/// a double. A whole number of up to 64 bits and the shortest text of a double, which any number of up to 15 digits is,
/// come back from that as they were. They are stored as numbers, which every reader of Core Data stores understands.
/// Others are stored as text in a blob, which no affinity touches.
///
/// - SeeAlso: <https://sqlite.org/datatype3.html#type_affinity>
enum DecimalColumn: Sendable, Hashable {
  case integer(Int64)
  case double(Double)
  case text(String)

  /// Nil for what isn't a number.
  init?(_ value: Decimal) {
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
  init(_ column: DecimalColumn) {
    switch column {
    case .integer(let number): self = .integer(number)
    case .double(let number): self = .double(number)
    case .text(let text): self = .blob(Data(text.utf8))
    }
  }
}
