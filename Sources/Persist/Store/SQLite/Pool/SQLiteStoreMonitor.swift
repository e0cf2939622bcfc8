import Foundation
import Synchronization

/// Reports every change of a store's file, by this program or others, from a thread of its own.
///
/// On Linux it sleeps until the system reports that the file or its log was written, and then asks SQLite whether there
/// was a commit. Elsewhere it asks 20 times a second, which reads a few bytes of shared memory. It also asks once a
/// second on Linux, because network file systems don't report changes by other machines.
final class SQLiteStoreMonitor: StoreMonitor {
  private let url: URL
  private let options: StoreOptions
  private let report: @Sendable () -> Void
  private let isEnded = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)
  private let owner = LockProtected<ObjectIdentifier?>(nil)
  #if os(Linux)
    private let events: FolderEvents?
  #endif

  init(_ url: URL, options: StoreOptions, _ report: @escaping @Sendable () -> Void) throws {
    self.url = url
    self.options = options
    self.report = report
    #if os(Linux)
      let file = url.resolvingSymlinksInPath()
      let name = file.lastPathComponent
      events = FolderEvents(in: file.deletingLastPathComponent(), names: [name, "\(name)-wal", "\(name)-journal"])
    #endif
    // Opened here, so that every change after the call is reported.
    let mode: SQLiteConnection.Mode = options.isReadOnly ? .readOnly : .readOnlyBesideWriter
    let connection = try SQLiteConnection(url, mode: mode, options: options)
    let version = try Self.version(connection)
    let handed = Handed(connection)
    let thread = Thread { [self] in run(handed.connection, version) }
    thread.name = "Persist: changes of \(url.lastPathComponent)"
    thread.start()
  }

  /// A connection being handed over to the thread that will use it.
  // Sendable: the creator doesn't use the connection again.
  private struct Handed: @unchecked Sendable {
    let connection: SQLiteConnection
    init(_ connection: SQLiteConnection) { self.connection = connection }
  }

  /// A number that every commit of another connection changes.
  private static func version(_ connection: SQLiteConnection) throws -> Int64? {
    try connection.first(.dataVersion) { $0.integer(0) }
  }

  private func run(_ connection: SQLiteConnection, _ version: Int64?) {
    let own = ObjectIdentifier(Thread.current)
    owner.withLock { $0 = own }
    var last = version
    while !isEnded.load(ordering: .acquiring) {
      // Errors such as a busy file are temporary; a change missed now is noticed next time.
      if let now = try? Self.version(connection), now != last {
        last = now
        report()
      }
      guard !isEnded.load(ordering: .acquiring) else { break }
      wait()
    }
    connection.close()
    owner.withLock { $0 = nil }
    hasEnded.signal()
  }

  private func wait() {
    #if os(Linux)
      if let events {
        events.wait(1000)
        // A commit is several writes.
        Thread.sleep(forTimeInterval: 0.002)
        return
      }
    #endif
    Thread.sleep(forTimeInterval: 0.05)
  }

  func end() {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    #if os(Linux)
      events?.end()
    #endif
    let current = ObjectIdentifier(Thread.current)
    let isOwnThread = owner.withLock { $0 == current }
    if !isOwnThread { hasEnded.wait() }
  }
}
