import Foundation

extension StoredValue {
  /// The value converted to another type; unchanged if the type can't represent it.
  package func converted(to type: AttributeType) -> StoredValue {
    switch type {
    case .int16, .int32, .int64: Number(self)?.truncated.value ?? self
    case .double, .float: Number(self).map { .double($0.double) } ?? self
    case .decimal: Number(self)?.decimal.map(StoredValue.decimal) ?? self
    case .boolean: Number(self).map { .boolean($0.double != 0) } ?? self
    case .string: text.map(StoredValue.string) ?? self
    case .date: Number(self).map { .date(Date(timeIntervalSinceReferenceDate: $0.double)) } ?? self
    case .binary, .uuid, .uri, .transformable, .composite, .objectID, .undefined: self
    }
  }
}
