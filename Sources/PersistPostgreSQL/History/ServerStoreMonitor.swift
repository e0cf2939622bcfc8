import Foundation
import Persist
import Synchronization

/// Reports the changes of a store on a server, by this program or others, from a thread and a connection of its own.
///
/// Saves of a store with a history notify all programs that listen. The server doesn't report other changes,
/// notifications don't pass a pooler, and a replica sends none: without a history, behind a pooler or on a replica, the
/// server is asked 20 times a second whether there was any transaction, even one of another store.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/sql-notify.html>
final class ServerStoreMonitor: StoreMonitor {
  private let address: ServerAddress
  private let hasHistory: @Sendable () -> Bool
  private let report: @Sendable () -> Void
  private let isEnded = Atomic(false)
  private let hasEnded = DispatchSemaphore(value: 0)

  /// The name under which saves of a store notify others: of limited length, whatever the name of the schema.
  static func channel(of schema: String) -> String {
    "persist_" + SHA256.digest(Array(schema.utf8)).prefix(16).hexadecimalDigits
  }

  /// - Throws: ``PersistenceError`` if the server can't be reached.
  init(
    _ address: ServerAddress, hasHistory: @escaping @Sendable () -> Bool, _ report: @escaping @Sendable () -> Void
  ) throws {
    self.address = address
    self.hasHistory = hasHistory
    self.report = report
    do {
      // Opened here, so that every change after the call is reported.
      let listener = Handed(try Listener(address))
      let thread = Thread { [self] in run(listener.listener) }
      thread.name = "Persist: changes of \(address.schema)"
      thread.start()
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: address.url(showingSecrets: false))
    }
  }

  /// A listener being handed over to the thread that will use it.
  // Sendable: the creator doesn't use the listener again.
  private struct Handed: @unchecked Sendable {
    let listener: Listener
    init(_ listener: Listener) { self.listener = listener }
  }

  /// A connection that listens, if the server lets it.
  private final class Listener {
    private let session: ServerSession
    /// Whether the server accepts programs that listen; a replica doesn't.
    private let listens: Bool
    private var changeCount: Int64

    init(_ address: ServerAddress) throws {
      let connection = try ServerDrivers.current.connect(to: address)
      session = ServerSession(connection: connection, schema: address.schema, url: nil)
      let results: [any ServerResult]
      var isRefused = false
      do {
        results = try session.run([
          "LISTEN \(name: ServerStoreMonitor.channel(of: address.schema))", HeldServerState.countChanges,
        ])
      } catch let failure as ServerFailure where failure.state == "25006" {
        isRefused = true
        results = try session.run([HeldServerState.countChanges])
      }
      listens = !isRefused
      changeCount = results.last?.integer(0, 0) ?? 0
    }

    deinit { session.connection.close() }

    /// Whether notifications reach the connection.
    var isNotified: Bool { listens && !session.connection.isPooled }

    func waitForNotification(_ time: Duration) throws -> Bool { try session.connection.waitForNotification(time) }

    func hasOtherCount() throws -> Bool {
      let count = try session.first(HeldServerState.countChanges) { $0.integer($1, 0) } ?? 0
      defer { changeCount = count }
      return count != changeCount
    }
  }

  private func run(_ first: Listener) {
    var listener: Listener? = first
    while !isEnded.load(ordering: .acquiring) {
      do {
        if listener == nil {
          listener = try Listener(address)
          // Changes may have been missed without a connection.
          report()
        }
        guard let listener else { continue }
        let hasNotification = try listener.waitForNotification(.milliseconds(50))
        guard !isEnded.load(ordering: .acquiring) else { break }
        if hasNotification {
          report()
        } else if !hasHistory() || !listener.isNotified, try listener.hasOtherCount() {
          report()
        }
      } catch {
        // The connection is lost.
        listener = nil
        Thread.sleep(forTimeInterval: 0.2)
      }
    }
    hasEnded.signal()
  }

  func end() {
    guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
    hasEnded.wait()
  }
}
