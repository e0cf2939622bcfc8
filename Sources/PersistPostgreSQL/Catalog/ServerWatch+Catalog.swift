import Persist

extension ServerWatch {
  /// - Parameters:
  ///   - mark: The mark in the state that the opened store was read from.
  ///   - follow: Called with the present catalog if it still has the model and layout of the opened store.
  convenience init(
    _ opened: OpenedStore, _ mark: ServerMark, follow: @escaping @Sendable (StoreCatalog) -> Void
  ) {
    self.init(mark) { session in
      do {
        return try session.readTransaction { session in
          let catalog = try StoreCatalog(session)
          try opened.check(catalog)
          follow(catalog)
          return try ServerMark(in: session)
        }
      } catch let error as PersistenceError where [.fileAccess, .notAStore, .storeDamaged].contains(error.code) {
        throw opened.exchanged("It is no longer a store.", engineMessage: error.engineMessage)
      }
    }
  }
}

extension ServerMark {
  /// Reads the mark of the state that the session's transaction sees.
  init(in session: ServerSession) throws {
    guard let mark = ServerMark(try session.query(Self.stored)) else {
      throw PersistenceError(
        .storeDamaged, at: .store(session.url), "The store has no mark of its model.",
        fix: "Restore the store from a backup.")
    }
    self = mark
  }
}
