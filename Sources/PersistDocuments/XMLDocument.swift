public import Foundation
import Persist

/// A store that is one XML file, as Core Data's XML stores are, in a form of Persist's own.
///
/// ```swift
/// try coordinator.addDocument(XMLDocument(at: url), options: .automaticMigration)
/// ```
public struct XMLDocument: AtomicStore {
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
    let limits = MarkupReader.Limits(bytes: limit, pieces: limit / 16)
    return try MarkupDocument(file.url).document(MarkupReader.root(in: data, from: file.url, limits: limits))
  }

  /// Replaces the file.
  ///
  /// - Throws: `PersistenceError.Code.storeExchanged` if another program has changed the file;
  ///   `PersistenceError.Code.diskFull` and `PersistenceError.Code.fileAccess`.
  public func save(_ document: StoreDocument) throws {
    try file.write(Data(try MarkupDocument(file.url).text(of: document).utf8))
  }
}
