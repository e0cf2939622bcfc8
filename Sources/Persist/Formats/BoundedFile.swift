import Foundation

/// Reads files from outside the program, up to a size limit.
enum BoundedFile {
  /// Returns the content of a regular file.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if there is no such file or it can't be read,
  ///   ``PersistenceError/Code/limitExceeded`` if it has more than `limit` bytes.
  static func data(at url: URL, limit: Int) throws -> Data {
    let handle: FileHandle
    do {
      // A named pipe or a device would block or never end.
      guard try url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        throw PersistenceError(.fileAccess, at: .file(url), "'\(url.lastPathComponent)' isn't a regular file.")
      }
      handle = try FileHandle(forReadingFrom: url)
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' can't be read: \(error.localizedDescription)")
    }
    defer { try? handle.close() }
    let data: Data
    do {
      data = try handle.read(upToCount: limit + 1) ?? Data()
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' can't be read: \(error.localizedDescription)")
    }
    guard data.count <= limit else {
      throw PersistenceError(.limitExceeded, at: .file(url), "The file has more than \(limit) bytes.")
    }
    return data
  }
}
