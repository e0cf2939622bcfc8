import Foundation
import Persist
import PersistInspection

/// A file that is written under another name first, so that it is complete or unchanged.
///
/// A pipe or a device is written directly, and `/dev/stdout` is standard output, whatever that is.
struct ExportedFile {
  private let url: URL
  private let handle: FileHandle
  /// The file that is written, and the one that it becomes; nil if the destination is written directly.
  private let draft: (file: URL, target: URL)?
  private var pending: [UInt8] = []
  private var line = JSONText()
  private static let pieceSize = 256 * 1024

  /// - Throws: `PersistenceError.Code.fileAccess`.
  private init(_ url: URL) throws {
    self.url = url
    guard url.path != "/dev/stdout" else {
      handle = FileHandle.standardOutput
      draft = nil
      return
    }
    let target = Self.target(of: url)
    let replaced = try? FileManager.default.attributesOfItem(atPath: target.path)
    do {
      guard replaced.map({ $0[.type] as? FileAttributeType == .typeRegular }) != false else {
        handle = try FileHandle(forWritingTo: url)
        draft = nil
        return
      }
      guard !Self.isOfDatabase(target) else {
        throw PersistenceError(
          .fileAccess, at: .file(url), "The file is a database, and isn't replaced.", fix: "Choose another name.")
      }
      Self.removeLeftovers(of: target)
      let file = target.deletingLastPathComponent()
        .appendingPathComponent(Self.draftPrefix(of: target) + UUID().uuidString)
      handle = try Self.create(file, like: replaced)
      draft = (file, target)
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw Self.failure(url, error)
    }
  }

  /// The file that a link leads to, whether it exists or not: links are followed, as those of stores are.
  private static func target(of url: URL) -> URL {
    var target = url.absoluteURL.resolvingSymlinksInPath()
    for _ in 0..<32 {
      guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: target.path) else { break }
      target = URL(fileURLWithPath: next, relativeTo: target.deletingLastPathComponent()).absoluteURL
        .resolvingSymlinksInPath()
    }
    return target
  }

  /// Whether a file is a database, or one of the files that SQLite writes beside it.
  private static func isOfDatabase(_ url: URL) -> Bool {
    DatabaseHeader.mayBeDatabase(url)
      || SQLiteFileName.database(ofCompanion: url).map { DatabaseHeader.mayBeDatabase($0) } == true
  }

  /// Creates an empty file with the owner and the permissions of another one, and locks it where the system has such
  /// locks.
  private static func create(_ url: URL, like replaced: [FileAttributeKey: Any]?) throws -> FileHandle {
    try Data().write(to: url, options: .withoutOverwriting)
    do {
      let handle = try FileHandle(forWritingTo: url)
      // Only some users may give files away, and not every file system has permissions.
      for keys in [[FileAttributeKey.ownerAccountID, .groupOwnerAccountID], [.posixPermissions]] {
        let attributes = replaced?.filter { keys.contains($0.key) } ?? [:]
        if !attributes.isEmpty { try? FileManager.default.setAttributes(attributes, ofItemAtPath: url.path) }
      }
      _ = FileLock.lock(handle)
      return handle
    } catch {
      try? FileManager.default.removeItem(at: url)
      throw error
    }
  }

  private static func draftPrefix(of target: URL) -> String { ".\(target.lastPathComponent).persist-" }

  /// Deletes the drafts of a file that interrupted commands have left. One that is being written is locked, or new.
  private static func removeLeftovers(of target: URL) {
    let folder = target.deletingLastPathComponent()
    let prefix = draftPrefix(of: target)
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
      let draft = folder.appendingPathComponent(name)
      let attributes = try? FileManager.default.attributesOfItem(atPath: draft.path)
      guard attributes?[.type] as? FileAttributeType == .typeRegular,
        let changed = attributes?[.modificationDate] as? Date, changed.timeIntervalSinceNow < -60
      else { continue }
      guard let handle = try? FileHandle(forReadingFrom: draft), FileLock.lock(handle) else { continue }
      try? FileManager.default.removeItem(at: draft)
    }
  }

  /// Writes a file completely, or discards it if `body` throws.
  static func write(to url: URL, _ body: (inout ExportedFile) throws -> Void) throws {
    var file = try ExportedFile(url)
    do {
      try body(&file)
      try file.finish()
    } catch {
      file.discard()
      throw error
    }
  }

  static func write(_ text: String, to url: URL) throws { try write(to: url) { try $0.write(text) } }

  static func makeFolder(_ url: URL) throws {
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The folder can't be created: \(error.localizedDescription)")
    }
  }

  mutating func write(_ text: String) throws {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.pieceSize { try flush() }
  }

  /// Writes a JSON value on a separate line.
  mutating func writeLine(_ body: (inout JSONText) throws -> Void) throws {
    line.reset()
    try body(&line)
    line.newLine()
    pending.append(contentsOf: line.bytes)
    if pending.count >= Self.pieceSize { try flush() }
  }

  private mutating func flush() throws {
    do { try handle.write(contentsOf: pending) } catch { throw Self.failure(url, error) }
    pending.removeAll(keepingCapacity: true)
  }

  /// Completes the file and gives it its name.
  private mutating func finish() throws {
    try flush()
    guard let draft else { return }
    do {
      try handle.synchronize()
      try handle.close()
      try FileSynchronization.move(draft.file, inPlaceOf: draft.target)
    } catch {
      throw Self.failure(url, error)
    }
  }

  /// Deletes what was written. A draft that can't be deleted does no harm.
  private func discard() {
    guard let draft else { return }
    try? handle.close()
    try? FileManager.default.removeItem(at: draft.file)
  }

  private static func failure(_ url: URL, _ error: any Error) -> PersistenceError {
    if let folder = FileState.missingFolder(of: target(of: url)) {
      return PersistenceError(
        .fileAccess, at: .file(url), "The file can't be written: there is no folder '\(folder.path)'.",
        fix: "Create the folder, or check the path.")
    }
    return PersistenceError(
      .fileAccess, at: .file(url), "The file can't be written: \(error.localizedDescription)",
      fix: "Check the free disk space and the permissions of the folder.")
  }
}
