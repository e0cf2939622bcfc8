import Foundation

/// What an attribute makes of values that a mapping's expression gives.
///
/// A value is taken where it has its equal in the attribute's type; a number is also rounded to floating point, as an
/// expression's result is. Nothing is made of texts or into texts.
struct AttributeValue {
  private let attribute: AttributeDescription

  init(_ attribute: AttributeDescription) { self.attribute = attribute }

  /// Nil where the attribute doesn't take the value.
  func converted(_ value: StoredValue) -> StoredValue? {
    switch (attribute.type, value) {
    case (_, .null), (.undefined, _), (.boolean, .boolean), (.double, .double), (.decimal, .decimal),
      (.string, .string), (.date, .date), (.binary, .data), (.transformable, .data), (.uuid, .uuid), (.uri, .uri),
      (.composite, .composite), (.objectID, .objectID):
      value
    case (.int16, _): whole(value, Int64(Int16.min)...Int64(Int16.max))
    case (.int32, _): whole(value, Int64(Int32.min)...Int64(Int32.max))
    case (.int64, _): whole(value, Int64.min...Int64.max)
    case (.boolean, _): whole(value, 0...1).map { .boolean($0 == .integer(1)) }
    case (.double, _): Number(value).map { .double($0.double) }
    // A float column keeps what was in it, also what only a double can tell.
    case (.float, .double(let number)) where Double(Float(number)) == number: value
    case (.float, _): Number(value).map { .double(Double(Float($0.double))) }
    case (.decimal, _): Number(value).flatMap(\.decimal).map(StoredValue.decimal)
    case (.date, _): Number(value).map { .date(Date(timeIntervalSinceReferenceDate: $0.double)) }
    case (.string, .uri(let text)): .string(text)
    case (.uri, .string(let text)): .uri(text)
    default: nil
    }
  }

  private func whole(_ value: StoredValue, _ range: ClosedRange<Int64>) -> StoredValue? {
    guard let number = Number(value)?.whole, range.contains(number) else { return nil }
    return .integer(number)
  }
}
