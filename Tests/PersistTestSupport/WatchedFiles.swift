import LinkedSQLite
public import Foundation
import Persist

/// The operations that SQLite requests from the file system.
public struct FileOperation: Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    case open, read, write, truncate, sync, delete
  }

  public let kind: Kind
  public let file: URL

  public init(kind: Kind, file: URL) {
    self.kind = kind
    self.file = file
  }
}

/// The outcome of an operation.
public enum FileVerdict: Sendable, Hashable {
  case proceed
  /// It fails with a result code of SQLite's, and nothing is done.
  case fail(Int32)
  /// It fails when half of it is done.
  case failHalfway(Int32)
}

/// Lets a test decide about every operation of SQLite on the files of one folder.
///
/// A layer between SQLite and the system's files, registered as the default on first use. Files of unwatched folders
/// bypass it.
///
/// ```swift
/// try WatchedFiles.watching(folder, { $0.kind == .sync ? .fail(SQLITE_IOERR_FSYNC) : .proceed }) {
///   try migrate(store)
/// }
/// ```
/// - SeeAlso: <https://sqlite.org/vfs.html>
public enum WatchedFiles {
  public typealias Judge = @Sendable (FileOperation) -> FileVerdict

  private static let judges = LockProtected<[String: Judge]>([:])

  /// - Parameters:
  ///   - folder: The folder whose files are watched.
  ///   - judge: Called before each operation, on the thread that performs it.
  ///   - body: The work that uses the files.
  public static func watching<Result>(_ folder: URL, _ judge: @escaping Judge, _ body: () throws -> Result) rethrows
    -> Result
  {
    _ = FileLayer.register
    let path = folder.resolvingSymlinksInPath().path
    judges.withLock { $0[path] = judge }
    defer { judges.withLock { $0[path] = nil } }
    return try body()
  }

  // MARK: Temporary files

  private static let counter = "persist.temporaryFiles"

  /// The number of temporary files that SQLite opens on this thread while `body` runs. No folder shows them: they have
  /// no name from the beginning.
  public static func temporaryFiles(of body: () throws -> Void) rethrows -> Int {
    _ = FileLayer.register
    let facts = Thread.current.threadDictionary
    facts[counter] = 0
    defer { facts[counter] = nil }
    try body()
    return facts[counter] as? Int ?? 0
  }

  static func countTemporaryFile() {
    let facts = Thread.current.threadDictionary
    if let count = facts[counter] as? Int { facts[counter] = count + 1 }
  }

  static func isWatched(_ path: String) -> Bool { judge(path) != nil }

  static func judge(_ path: String) -> Judge? {
    judges.withLock { judges in judges.first { path.hasPrefix($0.key + "/") }?.value }
  }

  static func verdict(_ kind: FileOperation.Kind, _ path: String) -> FileVerdict {
    judge(path)?(FileOperation(kind: kind, file: URL(fileURLWithPath: path))) ?? .proceed
  }
}
