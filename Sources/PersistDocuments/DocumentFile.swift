public import Foundation
import Persist

/// A document in a file.
///
/// ```swift
/// try coordinator.addDocument(DocumentFile(at: url, format: .json), options: .automaticMigration)
/// ```
public struct DocumentFile: AtomicStore {
  /// The form of the file's content.
  public struct Format: Hashable, Sendable, CustomStringConvertible {
    private enum Kind { case json, xml }
    private let kind: Kind

    /// JSON, indented and with sorted keys, so that versions can be compared and kept under version control.
    public static let json = Format(kind: .json)
    /// XML, in a form of Persist's own: not that of Core Data's XML stores.
    public static let xml = Format(kind: .xml)

    /// The name of the format: "JSON" or "XML".
    public var description: String {
      switch kind {
      case .json: "JSON"
      case .xml: "XML"
      }
    }

    fileprivate func document(in data: Data, from url: URL, limit: Int) throws -> StoreDocument {
      switch kind {
      case .json: try StoreDocument(json: data, from: url)
      case .xml:
        try MarkupDocument(url).document(
          MarkupReader.root(in: data, from: url, limits: .init(bytes: limit, pieces: limit / 16)))
      }
    }

    fileprivate func data(of document: StoreDocument, for url: URL) throws -> Data {
      switch kind {
      case .json: try document.json()
      case .xml: Data(try MarkupDocument(url).text(of: document).utf8)
      }
    }
  }

  /// The form of the content.
  public let format: Format
  private let file: ReplaceableFile
  private let limit: Int

  /// The document in a file, which needn't exist.
  ///
  /// - Parameters:
  ///   - url: The file.
  ///   - format: The form of the content, whatever the file's extension is.
  ///   - limit: The maximum size of the file in bytes; a larger one isn't read.
  public init(at url: URL, format: Format, limit: Int = 256 << 20) {
    file = ReplaceableFile(url)
    self.format = format
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
    return try format.document(in: data, from: file.url, limit: limit)
  }

  /// Replaces the file.
  ///
  /// - Throws: `PersistenceError.Code.storeExchanged` if another program has changed the file;
  ///   `PersistenceError.Code.diskFull` and `PersistenceError.Code.fileAccess`.
  public func save(_ document: StoreDocument) throws { try file.write(format.data(of: document, for: file.url)) }
}
