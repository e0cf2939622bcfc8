#if canImport(PersistPostgreSQL)
  package import Persist
  import PersistPostgreSQL
  import Synchronization

  /// Counts the flights of all connections to servers: each is a round trip, and most have one statement of the store.
  public enum CountedServer {
    private static let counts = Mutex<[String: Int]>([:])
    private static let lengths = Mutex<[String: [Int]]>([:])
    /// The numbers of statements of the flights of stores in a schema, in order.
    package static func statements(of address: ServerAddress) -> [Int] { lengths.withLock { $0[address.schema] ?? [] } }

    private static let installation: Void = ServerDrivers.install(Driver(inner: ServerDrivers.current))

    /// Starts counting.
    static func begin() { installation }

    /// The number of flights of stores in a schema since the begin of the run.
    package static func flights(of address: ServerAddress) -> Int { counts.withLock { $0[address.schema] ?? 0 } }

    private struct Driver: ServerDriver {
      let inner: any ServerDriver

      func connect(to address: ServerAddress, _ patience: ServerPatience) throws -> any ServerConnection {
        Connection(inner: try inner.connect(to: address, patience), schema: address.schema)
      }
    }

    private final class Connection: ServerConnection {
      private let inner: any ServerConnection
      private let schema: String

      init(inner: any ServerConnection, schema: String) { (self.inner, self.schema) = (inner, schema) }

      func run(_ statements: [ServerStatement]) throws -> [any ServerResult] {
        CountedServer.counts.withLock { $0[schema, default: 0] += 1 }
        CountedServer.lengths.withLock { $0[schema, default: []].append(statements.count) }
        return try inner.run(statements)
      }

      func copy(_ statement: String, _ bytes: [UInt8]) throws {
        CountedServer.counts.withLock { $0[schema, default: 0] += 1 }
        try inner.copy(statement, bytes)
      }

      func waitForNotification(_ time: Duration) throws -> Bool { try inner.waitForNotification(time) }
      var isOpen: Bool { inner.isOpen }
      func hasEnded() -> Bool { inner.hasEnded() }
      var isPooled: Bool { inner.isPooled }
      var isInTransaction: Bool { inner.isInTransaction }
      var cancel: @Sendable () -> Void { inner.cancel }
      func close() { inner.close() }
    }
  }
#endif
