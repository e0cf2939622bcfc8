import Persist
import PersistTools

/// The version of the program, and of the library with which it accesses stores.
enum ProgramVersion {
  /// The newest section of the change log.
  static let number = "unreleased"

  static var text: String { "persist \(number), SQLite \(SQLiteLibrary.version)" }
}
