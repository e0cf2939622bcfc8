import Foundation

/// Reads files that come from outside, up to a size.
enum BoundedFile {
  /// The content of a regular file.
  ///
  /// - Throws: ``PersistError/Code/fileAccess`` where there is no such file or it can't be read,
  ///   ``PersistError/Code/limitExceeded`` where it has more than `limit` bytes.
  static func data(at url: URL, limit: Int) throws -> Data {
    let handle: FileHandle
    do {
      // A named pipe or a device would block or never end.
      guard try url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        throw PersistError(.fileAccess, at: .file(url), "'\(url.lastPathComponent)' isn't a regular file.")
      }
      handle = try FileHandle(forReadingFrom: url)
    } catch let error as PersistError {
      throw error
    } catch {
      throw PersistError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' can't be read: \(error.localizedDescription)")
    }
    defer { try? handle.close() }
    let data: Data
    do {
      data = try handle.read(upToCount: limit + 1) ?? Data()
    } catch {
      throw PersistError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' can't be read: \(error.localizedDescription)")
    }
    guard data.count <= limit else {
      throw PersistError(.limitExceeded, at: .file(url), "The file has more than \(limit) bytes.")
    }
    return data
  }
}
