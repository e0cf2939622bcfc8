import Foundation

extension CastType {
  /// The value cast to this type: null if a text can't be parsed, nil if values of its kind can't be cast at all.
  func cast(_ value: StoredValue) -> StoredValue? {
    switch (self, value) {
    case (_, .null): return .null
    case (.string, _): return value.text.map(StoredValue.string)
    case (.number, .string(let text)): return Number(text: text)?.value ?? .null
    case (.number, _): return Number(value)?.value
    case (.decimal, .string(let text)): return Decimal(wholeText: text).map(StoredValue.decimal) ?? .null
    case (.decimal, _): return Number(value)?.decimal.map(StoredValue.decimal)
    case (.date, .date): return value
    case (.date, _): return Number(value).map { .date(Date(timeIntervalSinceReferenceDate: $0.double)) }
    case (.data, .data): return value
    case (.data, .string(let text)): return Data(base64Encoded: text).map(StoredValue.data) ?? .null
    case (.uuid, .uuid): return value
    case (.uuid, .string(let text)): return UUID(uuidString: text).map(StoredValue.uuid) ?? .null
    case (.url, .uri): return value
    case (.url, .string(let text)): return .uri(text)
    case (.objectID, .objectID): return value
    case (.objectID, .string(let text)):
      return URL(string: text).flatMap(ManagedObjectID.init(uriRepresentation:)).map(StoredValue.objectID) ?? .null
    case (.composite, .composite): return value
    default: return nil
    }
  }
}
