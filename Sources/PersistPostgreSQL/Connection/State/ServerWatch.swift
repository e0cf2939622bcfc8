import Persist

/// Detects that an open store has changed fundamentally since it was opened: another program migrated, replaced or
/// deleted it.
///
/// Each read and each write checks the store's mark within the flight that it needs anyway. A write holds a lock that
/// keeps migrations waiting, so that the mark can't change between its check and the commit.
final class ServerWatch: Sendable {
  private let known: LockProtected<ServerMark>
  private let look: @Sendable (ServerSession) throws -> ServerMark

  /// - Parameters:
  ///   - mark: The mark of the state that the opened store was read from.
  ///   - look: Reads the present mark, and throws if the store isn't the opened one any longer or has another layout.
  init(_ mark: ServerMark, _ look: @escaping @Sendable (ServerSession) throws -> ServerMark) {
    known = LockProtected(mark)
    self.look = look
  }

  /// - Parameter result: The result of ``ServerMark/stored`` or ``ServerMark/present``.
  /// - Throws: ``Changed`` if the mark isn't the known one.
  func check(_ result: (any ServerResult)?) throws {
    guard mark.isMark(in: result) else { throw Changed() }
  }

  /// - Throws: ``Changed`` if a connection leads to another database than the known one.
  func check(database: String) throws {
    guard database == mark.database else { throw Changed() }
  }

  /// The known mark.
  var mark: ServerMark { known.withLock { $0 } }

  /// Looks at the store after its mark has changed or a statement failed, and accepts changes that keep its model.
  ///
  /// - Parameter session: A session without a transaction.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` or ``PersistenceError/Code/storeExchanged``.
  func lookAgain(_ session: ServerSession) throws {
    let mark = try look(session)
    known.withLock { $0 = mark }
  }

  /// The store has another mark, which doesn't mean that it has another model.
  struct Changed: Error {
    /// The failure from which another mark was concluded, and the mark that the store should have; nil if the other
    /// mark was read. If the store has that mark, a trigger or a constraint of others has failed in the same way.
    var conclusion: (failure: ServerFailure, mark: ServerMark)?
  }
}

extension ServerFailure {
  /// Whether a change of the tables can be the reason: something is missing or has another type.
  var mayComeFromChange: Bool {
    ["42", "3F", "0A"].contains { state.hasPrefix($0) }
  }
}
