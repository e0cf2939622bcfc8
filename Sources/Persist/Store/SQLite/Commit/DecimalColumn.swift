import Foundation

/// How a decimal stands in a column, so that no digit is lost.
///
/// Core Data's columns for decimals have SQLite's numeric affinity: text that looks like a number becomes an integer or
/// a double. A whole number of up to 64 bits and one of up to 15 digits come back from that as they were, and so stand
/// as numbers, which every reader of Core Data stores takes. Longer ones stand as text in a blob, which no affinity
/// touches.
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
    let digits = text.utf8.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    let zero = UInt8(ascii: "0")
    let significant = digits.drop { $0 == zero }.reversed().drop { $0 == zero }.count
    if significant <= 15, let double = Double(text), double.isFinite {
      self = .double(double)
    } else {
      self = .text(text)
    }
  }
}
