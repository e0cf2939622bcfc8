public import Foundation
import Persist

/// A store that is one JSON file, readable and with sorted keys, so that it can be compared and kept under version
/// control.
///
/// ```swift
/// try coordinator.addDocument(JSONDocument(at: url), options: .automaticMigration)
/// ```
public struct JSONDocument: AtomicStore {
  private let file: DocumentFile
  private let limit: Int

  /// The store in a file, which needn't exist.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - limit: The maximum size of the file in bytes; a larger one isn't read.
  public init(at url: URL, limit: Int = 256 << 20) {
    file = DocumentFile(url)
    self.limit = limit
  }

  /// The file.
  public var location: URL? { file.url }

  /// Reads the file.
  ///
  /// - Throws: `PersistenceError.Code.malformedFile`, `PersistenceError.Code.limitExceeded` and
  ///   `PersistenceError.Code.fileAccess`.
  public func load() throws -> StoreDocument? {
    guard let data = try file.read(limit: limit) else { return nil }
    do {
      return try JSONDecoder().decode(StoreDocument.self, from: data)
    } catch let error as DecodingError {
      throw PersistenceError(
        .malformedFile, at: PersistenceError.Place(store: file.url, key: error.path),
        "'\(file.url.lastPathComponent)' isn't a document of Persist: \(error.words)",
        fix: "Restore it from a backup, or name another file.")
    } catch var error as PersistenceError {
      error.place.store = file.url
      throw error
    }
  }

  /// Replaces the file.
  ///
  /// - Throws: `PersistenceError.Code.storeExchanged` if another program has changed the file;
  ///   `PersistenceError.Code.diskFull` and `PersistenceError.Code.fileAccess`.
  public func save(_ document: StoreDocument) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try file.write(try encoder.encode(document))
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
