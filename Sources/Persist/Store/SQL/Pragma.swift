/// A setting of SQLite, checked so that it can be put into SQL.
///
/// SQLite takes no parameters there, so a name must be one that it knows and a value a word or a number.
struct Pragma: Sendable, Hashable {
  let name: String
  let value: String

  /// - Throws: ``PersistenceError/Code/invalidRequest`` where the name or the value can't be one. SQLite itself ignores
  ///   a value that it doesn't know, or takes it for another.
  init(_ name: String, _ value: String) throws {
    let letters = name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
      default: false
      }
    }
    guard letters, !name.isEmpty else {
      throw PersistenceError(
        .invalidRequest, "'\(name)' can't be the name of a pragma.",
        fix: "Use a name from https://sqlite.org/pragma.html, such as 'synchronous'.")
    }
    let isWord = value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"),
        UInt8(ascii: "."):
        true
      default: false
      }
    }
    guard isWord, !value.isEmpty else {
      throw PersistenceError(
        .invalidRequest, "'\(value)' can't be the value of the pragma '\(name)'.",
        fix: "A value is a word such as 'FULL' or a number.")
    }
    self.name = name.lowercased()
    self.value = value
    guard let values = PragmaValues(of: self.name), !values.contain(value) else { return }
    throw PersistenceError(
      .invalidRequest, "'\(value)' is no value of the pragma '\(name)'.", fix: "Expected \(values.words).")
  }

  /// Whether setting it changes the file: it is left out of connections that only read.
  var isOfTheFile: Bool {
    [
      "application_id", "auto_vacuum", "encoding", "incremental_vacuum", "journal_mode", "legacy_file_format",
      "locking_mode", "optimize", "page_size", "schema_version", "user_version", "wal_checkpoint",
    ].contains(name)
  }
}

extension SQLText {
  /// A value such as `UTF-8` would be an expression without its quotes.
  static func set(_ pragma: Pragma) -> SQLText {
    let isQuoted = pragma.value.dropFirst().contains("-")
    return SQLText(checked: "PRAGMA \(pragma.name) = \(isQuoted ? "'\(pragma.value)'" : pragma.value)")
  }

  /// Whether SQLite knows a pragma; one that it doesn't know it would pass over in silence.
  static func knows(pragma name: String) -> SQLText {
    "SELECT 1 FROM pragma_pragma_list WHERE name = \(value: .text(name))"
  }
}
