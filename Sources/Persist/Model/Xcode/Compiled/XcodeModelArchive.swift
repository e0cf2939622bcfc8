import Foundation

/// Compiled models: keyed archives of `NSManagedObjectModel`.
///
/// Xcode writes them as `.mom` files; Core Data writes one into each store (`Z_MODELCACHE`), compressed.
///
/// They say what the model's source says, in other words: each property names its renaming identifier also when it was
/// never renamed, limits are validation predicates with a number as their warning, and a store's archive repeats
/// inherited properties in each subentity. The description that comes out is the source's, as far as the archive has
/// it; lists are in name order.
enum XcodeModelArchive {
  /// Reads a `.mom` file.
  static func model(at url: URL) throws -> ReadModel {
    try model(fromArchive: BoundedFile.data(at: url, limit: PropertyList.Limits.bytes), place: .file(url))
  }

  /// Reads an archive that isn't compressed.
  ///
  /// - Parameter place: where the bytes come from, for errors.
  static func model(fromArchive data: Data, place: PersistenceError.Place = .unknown) throws -> ReadModel {
    try ModelArchiveReader(KeyedArchive(data: data, place: place)).model()
  }

  /// Reads what the table `Z_MODELCACHE` of a store holds: an archive that is compressed without a header; one with a
  /// header and one that isn't compressed are taken too.
  static func model(fromModelCache content: Data, place: PersistenceError.Place = .unknown) throws -> ReadModel {
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
