import CSQLite
public import Foundation
import Persist

/// What SQLite asks of the file system.
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

/// What becomes of an operation.
public enum FileVerdict: Sendable, Hashable {
  case proceed
  /// It fails with a result code of SQLite's, and nothing is done.
  case fail(Int32)
  /// It fails when half of it is done.
  case failHalfway(Int32)
}

/// Lets a test decide about everything that SQLite does with the files of one folder.
///
/// A layer between SQLite and the system's files, which is registered as the default when it is first used. Files of
/// folders that nobody watches go past it.
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
  ///   - folder: the folder whose files are watched.
  ///   - judge: asked before each operation, on the thread that does it.
  ///   - body: the work that uses the files.
  public static func watching<Result>(_ folder: URL, _ judge: @escaping Judge, _ body: () throws -> Result) rethrows
    -> Result
  {
    _ = FileLayer.register
    let path = folder.resolvingSymlinksInPath().path
    judges.withLock { $0[path] = judge }
    defer { judges.withLock { $0[path] = nil } }
    return try body()
  }

  static func isWatched(_ path: String) -> Bool { judge(path) != nil }

  static func judge(_ path: String) -> Judge? {
    judges.withLock { judges in judges.first { path.hasPrefix($0.key + "/") }?.value }
  }

  static func verdict(_ kind: FileOperation.Kind, _ path: String) -> FileVerdict {
    judge(path)?(FileOperation(kind: kind, file: URL(fileURLWithPath: path))) ?? .proceed
  }
}
