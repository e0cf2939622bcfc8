import LinkedSQLite
import Foundation
import Synchronization

/// The files of an open store, observed for changes that no database makes: files that are put in their place, and
/// content that is written over them.
///
/// The database notices neither, and would go on with pages that no longer exist. In WAL mode, the store's file only
/// changes when pages of the log are moved into it, which the log's index shows. A change without such progress comes
/// from a program that writes the file as a file.
final class StorePlace: Sendable {
  enum Finding {
    case same
    /// The name is that of no file, or of another one.
    case moved
    /// The log is no longer the one that the connections have open.
    case otherLog
    case overwritten
  }

  private struct State {
    var file: FileState?
    var progress: LogProgress?
    var isOverwritten = false
  }

  /// The least time between two looks by readers, in nanoseconds: a look takes about a microsecond.
  private static let interval: UInt64 = 100_000

  private let path: String
  private let logPath: String
  /// Nil for a store without a log.
  private let log: FileState?
  private let hasIndex: Bool
  private let state: LockProtected<State>
  private let lastLook = Atomic<UInt64>(0)
  /// The properties that distinguish the file from its copies: its number and its time of creation.
  let numbers: [Int64]

  /// - Parameter url: The store's file, which a connection has read already.
  init(_ url: URL) {
    path = url.path
    // Resolved once: together, the paths of both companions took 0.15 of 5 million instructions of opening a store.
    let resolved = SQLiteFileName.resolvedPath(url)
    logPath = resolved + "-wal"
    log = FileState(path: logPath)
    hasIndex = log != nil && FileState(path: resolved + "-shm") != nil
    let file = FileState(path: path)
    state = LockProtected(State(file: file))
    let birth = url.withUnsafeFileSystemRepresentation { $0.map { persist_file_birth($0) } ?? 0 }
    numbers = [Int64(bitPattern: file?.fileNumber ?? 0), birth]
  }

  var isOverwritten: Bool { state.withLock { $0.isOverwritten } }

  /// - Parameters:
  ///   - connection: A connection that has read the store, and that no other thread uses.
  ///   - isThorough: Whether to look even if the last look was just now.
  func look(_ connection: SQLiteConnection, isThorough: Bool) -> Finding {
    let now = DispatchTime.now().uptimeNanoseconds
    if !isThorough, now &- lastLook.load(ordering: .relaxed) < Self.interval { return .same }
    lastLook.store(now, ordering: .relaxed)
    return state.withLock { state in
      // Before the file is looked at, so that pages moved meanwhile count as progress the next time.
      let before = hasIndex && !connection.isWithoutLocks ? LogProgress(connection) : nil
      guard let former = state.file, let file = FileState(path: path), file.isSameFile(as: former) else {
        return .moved
      }
      if state.isOverwritten { return .overwritten }
      let isChanged = file != former
      if let log {
        let present = FileState(path: logPath)
        guard present?.isSameFile(as: log) == true else {
          // A log that was only deleted still belongs to the file.
          state.isOverwritten = present != nil || isChanged
          return .otherLog
        }
      }
      if isChanged, let progress = state.progress, progress.isIdle, LogProgress(connection) == progress {
        state.isOverwritten = true
        return .overwritten
      }
      (state.file, state.progress) = (file, before)
      return .same
    }
  }
}

/// The progress of moving a log into its database.
private struct LogProgress: Equatable {
  private let salt: [UInt32]
  private let moved: UInt32
  private let begun: UInt32

  /// Nil if the connection has no index of the log.
  init?(_ connection: SQLiteConnection) {
    var words: [UInt32] = [0, 0, 0, 0]
    guard persist_sqlite3_log_progress(connection.handle, &words) != 0 else { return nil }
    (salt, moved, begun) = (Array(words[0..<2]), words[2], words[3])
  }

  /// Whether no process is moving pages.
  var isIdle: Bool { moved == begun }
}

extension SQLiteConnection {
  /// Leaves the log as it is when the connection is closed. Does nothing if it is closed already: SQLite has freed it.
  func keepLogOnClose() {
    guard !isClosed else { return }
    _ = persist_sqlite3_keep_wal_on_close(handle)
  }
}
