import Foundation
import Synchronization

/// Reports every change of a store's file, by this program or others, from a thread of its own.
///
/// It sleeps until the system reports that the file or its log was written, and then asks SQLite whether there was a
/// commit. It also asks once a second, because network file systems don't report changes by other machines. On systems
/// without such events it asks 20 times a second, which reads a few bytes of shared memory.
final class SQLiteStoreMonitor: StoreMonitor {
  private let url: URL
  private let options: StoreOptions
  private let report: @Sendable () -> Void
  private let isEnded = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let events: FolderEvents?

  init(_ url: URL, options: StoreOptions, _ report: @escaping @Sendable () -> Void) throws {
    self.url = url
    self.options = options
    self.report = report
    let file = url.resolvingSymlinksInPath()
    let name = file.lastPathComponent
    events = FolderEvents(in: file.deletingLastPathComponent(), names: [name, "\(name)-wal", "\(name)-journal"])
    // Opened here, so that every change after the call is reported.
    let handed = Handed(try Watched(url, options))
    let thread = Thread { [self] in run(handed.watched) }
    thread.name = "Persist: changes of \(url.lastPathComponent)"
    thread.start()
  }

  /// A connection, and what changes when others write to the store.
  private struct Watched {
    let connection: SQLiteConnection
    /// A number that every commit of another connection changes.
    var version: Int64?
    /// The state of the files when they were opened without locks: such a connection reads the version only once.
    let files: StoreFilesState?

    init(_ url: URL, _ options: StoreOptions) throws {
      let state = StoreFilesState(of: url)
      let mode: SQLiteConnection.Mode = options.isReadOnly ? .readOnly : .readOnlyBesideWriter
      connection = try SQLiteConnection(url, mode: mode, options: options)
      files = connection.isWithoutLocks ? state : nil
      version = try Self.version(connection)
    }

    static func version(_ connection: SQLiteConnection) throws -> Int64? {
      try connection.first(.dataVersion) { $0.integer(0) }
    }
  }

  /// A connection being handed over to the thread that will use it.
  // Sendable: the creator doesn't use the connection again.
  private struct Handed: @unchecked Sendable {
    let watched: Watched
    init(_ watched: Watched) { self.watched = watched }
  }

  private func run(_ opened: Watched) {
    var watched = opened
    while !isEnded.load(ordering: .acquiring) {
      if hasChanged(&watched) { report() }
      guard !isEnded.load(ordering: .acquiring) else { break }
      wait()
    }
    watched.connection.close()
    hasEnded.signal()
  }

  /// Errors such as a busy file are temporary; a change missed now is noticed next time.
  private func hasChanged(_ watched: inout Watched) -> Bool {
    if let files = watched.files {
      // The files may have to be opened in another way now.
      guard StoreFilesState(of: url) != files, let again = try? Watched(url, options) else { return false }
      watched.connection.close()
      watched = again
      return true
    }
    guard let now = try? Watched.version(watched.connection), now != watched.version else { return false }
    watched.version = now
    return true
  }

  private func wait() {
    guard let events else { return Thread.sleep(forTimeInterval: 0.05) }
    events.wait(1000)
    // A commit consists of several writes, each with an event: wait for the last of them.
    Thread.sleep(forTimeInterval: 0.002)
  }

  func end() {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    events?.end()
    hasEnded.wait()
  }
}
