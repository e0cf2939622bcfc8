package import Foundation

/// Compiled models: keyed archives of `NSManagedObjectModel`.
///
/// Xcode writes them as `.mom` files; Core Data writes one into each store (`Z_MODELCACHE`), compressed.
///
/// They represent the model's source in a different form: every property has a renaming identifier even if it was never
/// renamed, limits are validation predicates with a number as their warning, and a store's archive repeats inherited
/// properties in each subentity. The resulting description equals the source's as far as the archive contains it; lists
/// are in name order.
package enum XcodeModelArchive {
  /// Reads a `.mom` file.
  static func model(at url: URL) throws -> ParsedModel {
    try model(fromArchive: BoundedFile.data(at: url, limit: PropertyList.Limits.bytes), place: .file(url))
  }

  /// Reads an uncompressed archive.
  ///
  /// - Parameter place: the source of the bytes, for errors.
  static func model(fromArchive data: Data, place: PersistenceError.Place = .unknown) throws -> ParsedModel {
    try ModelArchiveReader(KeyedArchive(data: data, place: place)).model()
  }

  /// Reads the content of a store's `Z_MODELCACHE` table: an archive that is compressed without a header. Archives with
  /// a header or without compression are accepted too.
  package static func model(
    fromModelCache content: Data, place: PersistenceError.Place = .unknown
  ) throws -> ParsedModel {
    try model(fromArchive: expanded(content, place: place), place: place)
  }

  private static func expanded(_ content: Data, place: PersistenceError.Place) throws -> Data {
    if content.starts(with: Data("bplist".utf8)) || content.starts(with: Data("<?xml".utf8)) { return content }
    do {
      return try RawDeflate.expand(content, place: place)
    } catch let error as PersistenceError where error.code == .malformedFile {
      guard let expanded = try? RawDeflate.expand(content, hasHeader: true, place: place) else { throw error }
      return expanded
    }
  }
}
