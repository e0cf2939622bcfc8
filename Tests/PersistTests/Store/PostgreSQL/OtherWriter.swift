#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// A program that writes to a store on a server by SQL alone.
  enum OtherWriter {
    /// Runs work that has to wait for the other program's transaction, which is committed meanwhile.
    static func run(
      _ statements: String..., at url: URL, _ place: SourceLocation = #_sourceLocation,
      while work: @escaping @Sendable () throws -> Void
    ) throws {
      let session = try ForeignSQL.Session(url)
      try session.run("BEGIN")
      for statement in statements { try session.run(statement) }
      let working = DispatchGroup()
      let failure = LockProtected<String?>(nil)
      DispatchQueue.global().async(group: working) {
        do { try work() } catch { failure.withLock { $0 = "\(error)" } }
      }
      try session.waitUntilBlocking()
      try session.run("COMMIT")
      working.wait()
      #expect(failure.withLock { $0 } == nil, sourceLocation: place)
    }
  }
#endif
