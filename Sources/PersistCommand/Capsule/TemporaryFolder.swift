import Foundation
import Persist

/// A folder for the files of one run of a command, readable only by its user.
enum TemporaryFolder {
  /// Runs a body with an empty folder, and deletes the folder afterward.
  static func with<Value>(_ body: (URL) throws -> Value) throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The folder can't be created: \(error.localizedDescription)")
    }
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
