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
      _ = try StoreLocation.postgreSQL(own)
      CountedServer.begin()
      defer { deleteSchemas(schema, server) }
      return try body(own)
    }

    /// Deletes a schema and those made beside it.
    private static func deleteSchemas(_ name: String, _ server: String) {
      guard let url = URL(string: server) else { return }
      let names = #"SELECT nspname FROM pg_namespace WHERE nspname = '\#(name)' OR nspname LIKE '\#(name)\_%'"#
      for row in (try? ForeignSQL.run([names], at: url)) ?? [] {
        // Connections that a test still holds open aren't waited for; the server ends with the run.
        _ = try? ForeignSQL.run("SET lock_timeout = '1s'; DROP SCHEMA IF EXISTS \"\(row[0])\" CASCADE", at: url)
      }
    }

    /// The URL of a schema that is deleted together with another one.
    static func otherSchema(_ name: String, beside url: URL) -> URL {
      let text = url.absoluteString.replacing(/schema=([^&]*)/) { "schema=\($0.1)_\(name.lowercased())" }
      return URL(string: text) ?? url
    }

    /// The connection string and the schema of a store's URL.
    static func parts(of url: URL) -> (connection: String, schema: String) {
      let text = url.absoluteString
      guard let match = text.firstMatch(of: /([?&])schema=([^&]*)(&?)/) else { return (text, "public") }
      let rest = text.replacingCharacters(in: match.range, with: match.3.isEmpty ? "" : String(match.1))
      return (rest, String(match.2).removingPercentEncoding ?? String(match.2))
    }

    private static func start() -> Result<String, Unavailable> {
      let environment = ProcessInfo.processInfo.environment
      if let given = environment["PERSIST_POSTGRESQL"], !given.isEmpty { return .success(given) }
      return RunningServer.start([]).map { server in
        held.withLock { $0 = server }
        return server.url
      }
    }

    /// Runs code with a server of its own, to which anything may happen. What it has committed survives its end.
    ///
    /// - Parameter settings: Further options of the server's program.
    public static func withOwnServer<T>(_ settings: String = "", _ body: (_ url: String) throws -> T) throws -> T {
      let server = try RunningServer.start([], settings: "-c synchronous_commit=on \(settings)").get()
      defer { server.stop() }
      _ = try StoreLocation.postgreSQL(server.url)
      return try body(server.url)
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

    /// - Parameters:
    ///   - arguments: Those of the script.
    ///   - settings: Further options of the server's program.
    ///   - launcher: A program that starts the script, and its arguments.
    static func start(
      _ arguments: [String], settings: String = "", by launcher: [String] = []
    ) -> Result<RunningServer, TestServer.Unavailable> {
      // Not a process that is killed at the end of the run: the script stops the server and deletes its files.
      let process = Process()
      let script = PackageFolder.url.appendingPathComponent("Scripts/postgresql-server")
      process.executableURL = launcher.first.map { URL(fileURLWithPath: $0) } ?? script
      process.arguments = launcher.dropFirst() + (launcher.isEmpty ? [] : [script.path]) + arguments
      if !settings.isEmpty {
        process.environment = ProcessInfo.processInfo.environment.merging(["PERSIST_SERVER_SETTINGS": settings]) { $1 }
      }
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

    /// A server that nobody else uses.
    ///
    /// - Parameter settings: Further options of the server's program.
    public static func startOwn(_ settings: String = "") throws -> RunningServer {
      let server = try start([], settings: settings).get()
      _ = try StoreLocation.postgreSQL(server.url)
      return server
    }

    /// A server that repeats this one.
    public func startReplica() throws -> RunningServer { try Self.start(["--replica-of", url]).get() }

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
