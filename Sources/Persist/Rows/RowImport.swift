package import Foundation

/// A slice of rows to import: with their keys, and with the members of their to-many relationships.
///
/// A row may refer to any other row of the import, in whatever slice.
package struct ImportSlice: Sendable {
  /// The members of one to-many relationship.
  package struct Members: Sendable {
    /// The slot of the relationship.
    package let slot: Int
    /// The keys of the members; in order if the relationship is ordered.
    package let keys: [Int64]

    package init(slot: Int, keys: [Int64]) {
      self.slot = slot
      self.keys = keys
    }
  }

  /// The line of a file that describes a row.
  package struct Source: Sendable {
    package let file: URL
    package let line: Int

    package init(file: URL, line: Int) {
      self.file = file
      self.line = line
    }
  }

  /// The required properties whose missing values the caller restores afterward, as `Entity.property`.
  package var returning: Set<String> = []
  /// The rows; permanent keys are preserved, temporary ones replaced by the next free key.
  package var inserts: [RowWrites.Insert] = []
  /// The to-many relationships of each row that its source describes, in the order of ``inserts``.
  ///
  /// If the inverse is to-one, the members' own rows determine the members, and these have to agree.
  package var members: [[Members]] = []
  /// The sources of the rows, in the order of ``inserts``, which errors name; empty if there are none.
  package var sources: [Source] = []

  package init() {}

  /// The source of a row; nil if it is unknown.
  package func source(_ index: Int) -> Source? { sources.indices.contains(index) ? sources[index] : nil }
}

/// The sources of an import's rows, which a temporary table refers to by the number of the file and the line.
package struct ImportSources {
  private var files: [URL] = []

  package init(files: [URL] = []) {
    self.files = files
  }

  /// Returns the number of a source's file, and the line; zeros if the source is unknown.
  package mutating func numbers(of source: ImportSlice.Source?) -> (file: Int64, line: Int64) {
    guard let source else { return (0, 0) }
    if files.last != source.file { files.append(source.file) }
    return (Int64(files.count), Int64(source.line))
  }

  /// Replaces the key in an error about a row by the row's source. The key may have been assigned during the import.
  package func replacingKey(in error: PersistenceError, by source: (file: Int64, line: Int64)?) -> PersistenceError {
    guard let source, files.indices.contains(Int(source.file) - 1) else { return error }
    var error = error
    (error.place.row, error.place.sql) = (nil, nil)
    (error.place.file, error.place.line) = (files[Int(source.file) - 1], Int(source.line))
    return error
  }
}
