import Foundation

extension StoredValue {
  /// The value in messages about it; a text in quotes.
  var quotedWords: String {
    switch self {
    case .null: "nothing"
    case .string(let text), .uri(let text): "'\(text)'"
    case .integer(let number): "\(number)"
    case .double(let number): "\(number)"
    case .decimal(let number): "\(number)"
    case .boolean(let flag): "\(flag)"
    case .date(let date): date.descriptionOrSeconds
    case .uuid(let uuid): uuid.uuidString
    case .objectID(let id): id.description
    case .data(let data): "\(data.count) bytes"
    case .composite: "the same elements"
    }
  }
}
