import Foundation
import Persist

/// A file that is replaced in one step, and never if another program has changed it.
final class ReplaceableFile: Sendable {
  let url: URL
  /// The state of the file when it was last read or written; nil if there was none.
  private let known = LockProtected<FileState?>(nil)

  init(_ url: URL) { self.url = url }

  /// Returns the content; nil if there is no file, or an empty one.
  ///
  /// - Parameter limit: The maximum number of bytes.
  func read(limit: Int) throws -> Data? {
    removeLeftovers()
    while true {
      let state = FileState(url)
      known.withLock { $0 = state }
      guard let state else { return nil }
      let data = try BoundedFile.data(at: url, limit: limit)
      // Another program may have replaced the file meanwhile.
      if FileState(url) == state { return data.isEmpty ? nil : data }
    }
  }

  /// Writes another file and lets it take the place of the document: both are on disk before this returns.
  func write(_ data: Data) throws {
    let place = place
    try requireUnchanged()
    let copy = place.deletingLastPathComponent().appendingPathComponent(prefix + UUID().uuidString)
    do {
      try data.write(to: copy)
      if let permissions = try? FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions] {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: copy.path)
      }
      try FileSynchronization.synchronize(copy)
      // As late as possible: another program may write at any time.
      try requireUnchanged()
      try FileSynchronization.move(copy, inPlaceOf: place)
    } catch {
      try? FileManager.default.removeItem(at: copy)
      throw failure(error)
    }
    let state = FileState(url)
    known.withLock { $0 = state }
    try FileSynchronization.synchronize(place.deletingLastPathComponent())
  }

  /// The file itself, if the URL is a link.
  private var place: URL { url.resolvingSymlinksInPath() }
  /// The beginning of the names of unfinished files.
  private var prefix: String { ".\(place.lastPathComponent).writing-" }

  private func requireUnchanged() throws {
    let former = known.withLock { $0 }
    guard FileState(url) != former else { return }
    throw PersistenceError(
      .storeExchanged, at: .store(url),
      "'\(url.lastPathComponent)' was changed, replaced or deleted since this program read it.",
      fix: "Remove the store from the coordinator and add it again; unsaved changes are lost unless you copy them.")
  }

  private func failure(_ error: any Error) -> any Error {
    if error is PersistenceError { return error }
    return PersistenceError(
      .init(ofWriting: error), at: .store(url),
      "The document can't be written: \(error.localizedDescription)",
      fix: "Check the free disk space and the permissions of the folder. The document is unchanged.")
  }

  /// Deletes the unfinished files of programs that were killed while they wrote.
  private func removeLeftovers() {
    let folder = place.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let file = folder.appendingPathComponent(name)
      // A younger one may be another program's that is writing now.
      let date = (try? FileManager.default.attributesOfItem(atPath: file.path))?[.modificationDate] as? Date
      if date.map({ $0 < Date() - 60 }) != false { try? FileManager.default.removeItem(at: file) }
    }
  }
}
