import Foundation

/// Conversion of a mapping expression's results to an attribute's type.
///
/// A value is accepted if the attribute's type has an equal one; numbers are also rounded to floating point, as results
/// of expressions are. Text is neither parsed nor produced.
struct AttributeValue {
  private let attribute: AttributeDescription

  init(_ attribute: AttributeDescription) { self.attribute = attribute }

  /// Nil if the attribute doesn't accept the value.
  func converted(_ value: StoredValue) -> StoredValue? {
    switch (attribute.type, value) {
    case (_, .null): value
    case (.int16, _): whole(value, Int64(Int16.min)...Int64(Int16.max))
    case (.int32, _): whole(value, Int64(Int32.min)...Int64(Int32.max))
    case (.int64, _): whole(value, Int64.min...Int64.max)
    // A double that a float represents exactly is unchanged.
    case (.float, .double(let number)) where Double(Float(number)) == number: value
    case (.float, _): Number(value).map { .double(Double(Float($0.double))) }
    case _ where attribute.type.holds(value): value
    case (.boolean, _): whole(value, 0...1).map { .boolean($0 == .integer(1)) }
    case (.double, _): Number(value).map { .double($0.double) }
    case (.decimal, _): Number(value).flatMap(\.decimal).map(StoredValue.decimal)
    case (.date, _): Number(value).map { .date(Date(timeIntervalSinceReferenceDate: $0.double)) }
    case (.string, .uri(let text)): .string(text)
    case (.uri, .string(let text)) where StoredValue.isURI(text): .uri(text)
    default: nil
    }
  }

  private func whole(_ value: StoredValue, _ range: ClosedRange<Int64>) -> StoredValue? {
    guard let number = Number(value)?.whole, range.contains(number) else { return nil }
    return .integer(number)
  }
}
