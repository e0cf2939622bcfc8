package import Foundation

/// A folder for the files of one run, readable only by its user.
package enum TemporaryFolder {
  /// Creates an empty folder, which the caller deletes.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess``.
  package static func make() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The folder can't be created: \(error.localizedDescription)")
    }
    return folder
  }

  /// Runs a body with an empty folder, and deletes the folder afterward.
  package static func with<Value>(_ body: (URL) throws -> Value) throws -> Value {
    let folder = try make()
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
