import Foundation
import Persist

/// The values of one column for many rows, as a parameter of a statement.
struct ServerColumn {
  let column: WritePlan.Column
  let kind: ServerTerms.Kind
  private var array: ArrayParameter

  init(_ column: WritePlan.Column, _ kind: ServerTerms.Kind, count: Int) {
    self.column = column
    self.kind = kind
    let types = kind.parameters
    array = ArrayParameter(types.array, of: types.element, count: count)
  }

  var parameter: ServerParameter { array.parameter }
  /// The size of the values so far, in bytes.
  var size: Int { array.size }
  /// The cast from an element of the parameter to the column.
  var cast: ServerText { kind == .decimal ? "::numeric" : "" }

  mutating func appendNull() { array.appendNull() }
  mutating func append(_ number: Int64) { array.append(number) }

  /// Appends a number in the column's width.
  ///
  /// - Returns: False if it is out of the column's range.
  private mutating func appendNarrow(_ number: Int64) -> Bool {
    switch kind {
    case .int32:
      guard let narrow = Int32(exactly: number) else { return false }
      array.append(narrow)
    case .int16:
      guard let narrow = Int16(exactly: number) else { return false }
      array.append(narrow)
    default: array.append(number)
    }
    return true
  }

  /// Appends the value of an attribute.
  ///
  /// - Returns: False if the value doesn't match the form, or exceeds the range of the column.
  mutating func append(_ value: StoredValue, as form: SlotForm) -> Bool {
    switch (form, value) {
    case (.none, _): return false
    case (_, .null): array.appendNull()
    case (.integer, .integer(let number)): return appendNarrow(number)
    case (.boolean, .boolean(let flag)):
      if kind == .boolean { array.append(flag ? 1 as UInt8 : 0) } else { array.append(flag ? 1 as Int64 : 0) }
    // Negative zero becomes positive, as SQLite stores it.
    case (.double, .double(let number)) where !number.isNaN: array.append(number + 0)
    case (.date, .date(let date)) where kind == .moment:
      guard let moment = Moment(date) else { return false }
      array.append(moment.microseconds)
    case (.date, .date(let date)) where !date.timeIntervalSinceReferenceDate.isNaN:
      array.append(date.timeIntervalSinceReferenceDate + 0)
    case (.string, .string(let text)), (.uri, .uri(let text)):
      array.append(text)
    case (.uuid, .uuid(let uuid)): withUnsafeBytes(of: uuid.uuid) { array.append(bytes: $0) }
    case (.data, .data(let data)): array.append(data)
    // The mark of a value in its row: a store on a server has no files.
    case (.externalData, .data(let data)): array.append(data, prefix: 1)
    case (.decimal, .decimal(let number)) where !number.isNaN: array.append(number.description)
    default: return false
    }
    return true
  }
}


/// A date as the server represents a `timestamp with time zone`: microseconds since 2000.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/datatype-datetime.html>
struct Moment {
  let microseconds: Int64

  /// Nil for a date outside of the server's range.
  init?(_ date: Date) {
    let sinceReference = (date.timeIntervalSinceReferenceDate * 1_000_000).rounded()
    // 2000 was a leap year. The bounds are 4713 BC and 294276 AD.
    let microseconds = sinceReference + 366 * 86_400 * 1_000_000
    guard microseconds >= -211_813_488_000_000_000, microseconds < 9_223_371_331_200_000_000 else { return nil }
    self.microseconds = Int64(microseconds)
  }
}
