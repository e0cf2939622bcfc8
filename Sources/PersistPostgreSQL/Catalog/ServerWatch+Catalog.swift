import Persist

extension ServerWatch {
  /// - Parameters:
  ///   - life: The number of the opened store's life.
  ///   - mark: The mark in the state that the opened store was read from.
  ///   - follow: Called with the present catalog if it still has the model and layout of the opened store.
  convenience init(
    _ opened: OpenedStore, ofLife life: UInt64, _ mark: ServerMark,
    follow: @escaping @Sendable (StoreCatalog, HistoryExpansion?) -> Void
  ) {
    self.init(mark) { session in
      do {
        return try session.readTransaction { session in
          let catalog = try StoreCatalog.read(session, for: opened.map.model)
          try opened.check(catalog)
          let mark = try ServerMark(in: session)
          guard mark.life.number(catalog.metadata.life) == life else {
            throw opened.replaced("A copy was restored in its place.")
          }
          follow(catalog, try HistoryExpansion(session, catalog, for: opened.map))
          return mark
        }
      } catch let error as PersistenceError where [.fileAccess, .notAStore, .storeDamaged].contains(error.code) {
        throw opened.replaced("It is no longer a store.", engineMessage: error.engineMessage)
      }
    }
  }
}

extension ServerMark {
  /// Reads the mark of the state that the session's transaction sees.
  init(in session: ServerSession) throws {
    guard let mark = ServerMark(try session.query(Self.whole)) else {
      throw PersistenceError(
        .storeDamaged, at: .store(session.url), "The store has no mark of its model.",
        fix: "Restore the store from a backup.")
    }
    self = mark
  }
}
