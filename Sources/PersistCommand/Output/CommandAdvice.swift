import Persist

/// The advice of errors for users of the command, where the library's advice names its API.
enum CommandAdvice {
  /// Parts of the library's advice, and their replacements; empty if there is nothing of the kind in the command.
  static let replacements: [(library: String, command: String)] = [
    (", or set a longer busyTimeout", ""),
    (", set a longer busyTimeout, or keep transactions short", ""),
    ("Remove it from the coordinator, and open the store that is now in its place.", "Run the command again."),
    (" Unsaved changes are still in the context.", ""),
    ("Create it with .postgreSQL(…).", "Specify its URL: postgresql://user@host/database?schema=name."),
    (", or set SQLMigrator.allowsUnknownVersions if this one can work with it", ""),
    (", or turn SQLMigrator.refusesOutOfOrder off", ""),
  ]
}

extension PersistenceError {
  /// The same error with the advice of ``CommandAdvice``.
  var advisingCommand: PersistenceError {
    var error = self
    error.fix = fix.map { fix in
      CommandAdvice.replacements.reduce(fix) { $0.replacing($1.library, with: $1.command) }
    }
    error.errors = errors.map(\.advisingCommand)
    return error
  }
}
