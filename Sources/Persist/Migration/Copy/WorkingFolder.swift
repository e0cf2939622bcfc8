import Foundation

/// The folder beside a store in which it is migrated; it goes when the work is done, and with it all that is in it.
struct WorkingFolder {
  let url: URL
  private let name: String

  /// What an earlier migration left behind is taken away; the caller holds the store.
  init(besideStoreAt store: URL) throws {
    name = store.lastPathComponent
    url = store.deletingLastPathComponent().appendingPathComponent(".\(name).migration", isDirectory: true)
    remove()
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    } catch {
      throw PersistError(
        .fileAccess, at: .file(url), "The folder for the migration can't be made: \(error.localizedDescription)",
        fix: "Check the permissions of the store's folder, and the room on the disk.")
    }
  }

  /// The place of the store after a leg, in a folder of its own.
  func file(_ number: Int) throws -> URL {
    let folder = url.appendingPathComponent("\(number)", isDirectory: true)
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    } catch {
      throw PersistError(.fileAccess, at: .file(folder), "A folder can't be made: \(error.localizedDescription)")
    }
    return folder.appendingPathComponent(name)
  }

  func remove() { try? FileManager.default.removeItem(at: url) }
}
