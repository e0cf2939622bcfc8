#if canImport(PersistPostgreSQL)
  import Foundation
  import Persist
  import PersistPostgreSQL
  import Synchronization
  public import Testing

  /// A PostgreSQL server for tests: one of their own, or that of `PERSIST_POSTGRESQL`.
  public enum TestServer {
    /// The URL of a database, or the reason why there is none.
    public static let url: Result<String, Unavailable> = start()

    public struct Unavailable: Error { public let reason: String }

    private static let nextSchema = Atomic(1)

    /// Runs code with the URL of a store in a schema of its own, which is deleted afterward.
    public static func withSchema<T>(_ body: (_ url: String) throws -> T) throws -> T {
      let number = nextSchema.add(1, ordering: .relaxed).newValue
      let server = try url.get()
      let schema = "test_\(ProcessInfo.processInfo.processIdentifier)_\(number)"
      let own = server + (server.contains("?") ? "&" : "?") + "schema=" + schema
      let location = try StoreLocation.postgreSQL(own)
      let result = try body(own)
      try location.engine.destroyStore(at: location)
      return result
    }

    private static func start() -> Result<String, Unavailable> {
      let environment = ProcessInfo.processInfo.environment
      if let given = environment["PERSIST_POSTGRESQL"], !given.isEmpty { return .success(given) }
      return RunningServer.start([]).map { server in
        held.withLock { $0 = server }
        return server.url
      }
    }

    /// Runs code with a replica of the server, which is stopped afterward.
    ///
    /// - Throws: ``Unavailable`` if there can't be one, as for a server that this program hasn't started.
    public static func withReplica<T>(_ body: (RunningServer) throws -> T) throws -> T {
      let replica = try RunningServer.start(["--replica-of", url.get()]).get()
      defer { replica.stop() }
      return try body(replica)
    }

    /// Runs code with a pooler in front of the server, which gives each transaction one of two connections.
    ///
    /// - Throws: ``Unavailable`` if there is no PgBouncer.
    public static func withPooler<T>(_ body: (RunningServer) throws -> T) throws -> T {
      let pooler = try RunningServer.start(["--pooler-of", url.get()]).get()
      defer { pooler.stop() }
      return try body(pooler)
    }

    /// The reason why there is no pooler; nil if there is one.
    public static var missingPooler: String? {
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
      let isThere = folders.contains { FileManager.default.isExecutableFile(atPath: $0 + "/pgbouncer") }
      return isThere ? nil : "There is no PgBouncer here."
    }

    private static let held = Mutex<RunningServer?>(nil)
  }

  /// A throw-away server, which runs until it is stopped or this process ends.
  public final class RunningServer: Sendable {
    public let url: String
    private let process: Mutex<(process: Process, input: Pipe)>

    private init(_ url: String, _ process: Process, _ input: Pipe) {
      self.url = url
      self.process = Mutex((process, input))
    }

    static func start(_ arguments: [String]) -> Result<RunningServer, TestServer.Unavailable> {
      // Not a process that is killed at the end of the run: the script stops the server and deletes its files.
      let process = Process()
      process.executableURL = PackageFolder.url.appendingPathComponent("Scripts/postgresql-server")
      process.arguments = arguments
      let (input, output, errors) = (Pipe(), Pipe(), Pipe())
      (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
      // Otherwise a child that has the pipe too would keep the server running after the run.
      _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
      do { try process.run() } catch { return .failure(TestServer.Unavailable(reason: "\(error)")) }
      let line = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let url = line.trimmingCharacters(in: .whitespacesAndNewlines)
      guard !url.isEmpty else {
        let reason = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return .failure(TestServer.Unavailable(reason: reason.trimmingCharacters(in: .whitespacesAndNewlines)))
      }
      return .success(RunningServer(url, process, input))
    }

    /// Stops the server and waits until its files are deleted.
    public func stop() {
      process.withLock { running in
        // The server ends when the pipe does.
        try? running.input.fileHandleForWriting.close()
        running.process.waitUntilExit()
      }
    }
  }

  extension Trait where Self == ConditionTrait {
    /// Runs a test only if there is a PostgreSQL server.
    public static var needsServer: Self {
      let reason = if case .failure(let error) = TestServer.url { error.reason } else { "" }
      return .enabled(if: reason.isEmpty, "Needs a PostgreSQL server: \(reason)")
    }

    /// Runs a test only if PgBouncer is installed.
    public static var needsPooler: Self {
      let reason = TestServer.missingPooler
      return .enabled(if: reason == nil, "Needs a pooler: \(reason ?? "")")
    }
  }
#endif
