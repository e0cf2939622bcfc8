/// The engine for stores on database servers, which a product beside Persist registers.
package enum ServerEngines {
  private static let registered = LockProtected<(any MigrationEngine)?>(nil)

  /// Registers the engine for the whole program, unless there is one already.
  package static func register(_ engine: any MigrationEngine) { registered.withLock { $0 = $0 ?? engine } }

  /// The registered engine; nil if the program is linked with none.
  static var registeredEngine: (any MigrationEngine)? { registered.withLock { $0 } }

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` with the product to add if no engine is registered.
  static var current: any MigrationEngine {
    get throws {
      if let engine = registeredEngine { return engine }
      throw PersistenceError(
        .storeOpenFailed, "This program has no engine for stores on PostgreSQL servers.",
        fix: "Add the product PersistPostgreSQL to the target, import it, and open the store with "
          + "addStore(.postgreSQL(…)).")
    }
  }
}
