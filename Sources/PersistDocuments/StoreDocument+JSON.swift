import Foundation
import Persist

extension StoreDocument {
  /// The document as JSON, indented and with sorted keys.
  func json() throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(self)
  }

  /// Reads a document from JSON.
  ///
  /// - Parameter url: The file that errors name.
  init(json data: Data, from url: URL) throws {
    do {
      self = try JSONDecoder().decode(StoreDocument.self, from: data)
    } catch let error as DecodingError {
      throw PersistenceError(
        .malformedFile, at: PersistenceError.Place(store: url, key: error.path),
        "'\(url.lastPathComponent)' isn't a document of Persist: \(error.words)",
        fix: "Restore it from a backup, or name another file.")
    } catch var error as PersistenceError {
      error.place.store = url
      throw error
    }
  }
}

extension DecodingError {
  private var context: Context? {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
      .dataCorrupted(let context):
      context
    @unknown default: nil
    }
  }

  /// The key path of the problem; nil if there is none.
  fileprivate var path: String? {
    let keys = context?.codingPath.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue } ?? []
    return keys.isEmpty ? nil : keys.joined(separator: ".")
  }

  fileprivate var words: String {
    if case .keyNotFound(let key, _) = self { return "The key '\(key.stringValue)' is missing." }
    return context?.debugDescription ?? "It can't be decoded."
  }
}
