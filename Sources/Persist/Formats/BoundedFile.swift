package import Foundation

/// Reads files from outside the program, up to a size limit.
package enum BoundedFile {
  /// Returns the content of a regular file.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if there is no such file or it can't be read,
  ///   ``PersistenceError/Code/limitExceeded`` if it has more than `limit` bytes.
  package static func data(at url: URL, limit: Int) throws -> Data {
    if let state = FileState(url) {
      // A named pipe or a device would block or never end.
      guard state.isRegular else {
        throw PersistenceError(.fileAccess, at: .file(url), "'\(url.lastPathComponent)' isn't a regular file.")
      }
      try check(state.size, of: url, limit: limit)
    }
    let data: Data
    do {
      data = try Data(contentsOf: url)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' can't be read: \(error.localizedDescription)")
    }
    // The file may have grown.
    try check(Int64(data.count), of: url, limit: limit)
    return data
  }

  private static func check(_ size: Int64, of url: URL, limit: Int) throws {
    guard size <= limit else {
      throw PersistenceError(.limitExceeded, at: .file(url), "The file has more than \(limit) bytes.")
    }
  }
}
