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
        let schema = address.schema
        return ForwardedConnection(try inner.connect(to: address, patience)) { connection, statements in
          CountedServer.counts.withLock { $0[schema, default: 0] += 1 }
          CountedServer.lengths.withLock { $0[schema, default: []].append(statements.count) }
          return try connection.run(statements)
        } copy: { connection, statement, bytes in
          CountedServer.counts.withLock { $0[schema, default: 0] += 1 }
          try connection.copy(statement, bytes)
        }
      }
    }
  }
#endif
