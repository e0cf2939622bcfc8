import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Synchronization
import Testing

/// The law: a program that is stopped in the middle of a transition, or suspended, makes others wait for some seconds,
/// and not until it goes on.
@Suite("Programs that are stopped while they migrate", .needsServer)
struct OnlineStoppedTests {
  enum Step: String, CaseIterable { case expand, contract, abort }

  @Test("Others read and save beside a stopped transition, which begins again afterward", arguments: Step.allCases)
  func stopped(step: Step) throws {
    StoppedFlight.install()
    let (old, new) = (try OnlineShop.old(), try OnlineShop.new())
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(old, url)
      try first.insert("Item", ["name": "Tea"])
      try first.save()
      let migration = OnlineMigration(storeAt: url)
      var program = first
      if step != .expand {
        try migration.expand(to: new)
        try migration.backfill()
      }
      if step == .contract {
        try first.close()
        program = try OnlineProgram(new, url)
      }
      let perform: @Sendable () throws -> Void = {
        switch step {
        case .expand: try migration.expand(to: new)
        case .contract: try migration.contract()
        case .abort: try migration.abort()
        }
      }
      let stopped = try StoppedFlight.stopping(at: url)
      let transition = Work(perform)
      stopped.waitUntilStopped()
      let name = step == .contract ? "title" : "name"
      let held = HeldProgram(program: program)
      let others = Work { try held.readAndSave(name) }
      // The server waits for three seconds, and others for five.
      let haveWaited = others.wait(atMost: .seconds(30))
      stopped.resume()
      #expect(haveWaited, "Others wait for as long as the program is stopped.")
      try others.result()
      try transition.result()
      try #expect(migration.status().state == (step == .expand ? .expanded : .none))
      try program.close()
      let last = try OnlineProgram(step == .contract ? new : old, url)
      try #expect(last.values("Item", name) == ["Coffee", "Tea"])
      try last.close()
    }
  }

  // @unchecked: the program is used by one thread at a time, this test's before and after the other one.
  private struct HeldProgram: @unchecked Sendable {
    let program: OnlineProgram

    func readAndSave(_ name: String) throws {
      _ = try program.all("Item")
      try program.insert("Item", [name: "Coffee"])
      try program.save()
    }
  }

  /// Work on a thread of its own.
  private final class Work: Sendable {
    private let found = Mutex<Result<Void, any Error>?>(nil)
    private let group = DispatchGroup()

    init(_ body: @escaping @Sendable () throws -> Void) {
      Thread.detachNewThread(entering: group) { [self] in
        let result = Result { try body() }
        found.withLock { $0 = result }
      }
    }

    func wait(atMost time: Duration) -> Bool { group.wait(timeout: .now() + time / .seconds(1)) == .success }

    func result() throws {
      group.wait()
      try found.withLock { $0 }?.get()
    }
  }
}

/// Stops the thread of the first flight after which a transaction holds an exclusive lock on a table.
private final class StoppedFlight: Sendable {
  private static let armed = Mutex<[String: StoppedFlight]>([:])
  private static let installation: Void = ServerDrivers.install(Driver(inner: ServerDrivers.current))

  static func install() { installation }

  static func stopping(at url: URL) throws -> StoppedFlight {
    let flight = StoppedFlight()
    let schema = try #require(ServerAddress(url)).schema
    armed.withLock { $0[schema] = flight }
    return flight
  }

  private let hasStopped = DispatchSemaphore(value: 0)
  private let mayGoOn = DispatchSemaphore(value: 0)

  func waitUntilStopped() { hasStopped.wait() }
  func resume() { mayGoOn.signal() }

  private func stop() {
    hasStopped.signal()
    mayGoOn.wait()
  }

  private struct Driver: ServerDriver {
    let inner: any ServerDriver

    private static let question = ServerStatement(
      """
      SELECT count(*) FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation WHERE l.pid = pg_backend_pid() \
      AND l.mode = 'AccessExclusiveLock' AND c.relkind = 'r'
      """)

    func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
      let schema = address.schema
      return ForwardedConnection(try inner.connect(to: address, patience)) { connection, statements in
        let results = try connection.run(statements)
        guard armed.withLock({ $0[schema] != nil }), connection.isInTransaction,
          let count = try? connection.run([Self.question]).first, count.integer(0, 0) > 0,
          let own = armed.withLock({ $0.removeValue(forKey: schema) })
        else { return results }
        own.stop()
        return results
      }
    }
  }
}
