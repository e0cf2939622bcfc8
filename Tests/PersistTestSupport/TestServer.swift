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
      if let given = ProcessInfo.processInfo.environment["PERSIST_POSTGRESQL"], !given.isEmpty { return .success(given) }
      // Not a process that is killed at the end of the run: the script stops the server and deletes its files.
      let process = Process()
      process.executableURL = PackageFolder.url.appendingPathComponent("Scripts/postgresql-server")
      let (input, output, errors) = (Pipe(), Pipe(), Pipe())
      (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
      // Otherwise a child that has the pipe too would keep the server running after the run.
      _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
      do { try process.run() } catch { return .failure(Unavailable(reason: "\(error)")) }
      let line = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let url = line.trimmingCharacters(in: .whitespacesAndNewlines)
      guard !url.isEmpty else {
        let reason = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return .failure(Unavailable(reason: reason.trimmingCharacters(in: .whitespacesAndNewlines)))
      }
      // The server ends when the pipe does: with this process.
      held.withLock { $0 = (process, input) }
      return .success(url)
    }

    private static let held = Mutex<(Process, Pipe)?>(nil)
  }

  extension Trait where Self == ConditionTrait {
    /// Runs a test only if there is a PostgreSQL server.
    public static var needsServer: Self {
      let reason = if case .failure(let error) = TestServer.url { error.reason } else { "" }
      return .enabled(if: reason.isEmpty, "Needs a PostgreSQL server: \(reason)")
    }
  }
#endif
