/// An SQLite pragma, validated so that it can be embedded in SQL.
///
/// Pragmas don't accept bound parameters, so a name must be a known one and a value a word or a number.
package struct Pragma: Sendable, Equatable {
  package let name: String
  let value: String

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the name or the value is invalid. SQLite itself ignores an
  ///   unknown value, or interprets it as another one.
  package init(_ name: String, _ value: String) throws {
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
      .invalidRequest, "'\(value)' isn't a value of the pragma '\(name)'.", fix: "Expected \(values.words).")
  }

  /// The name and the value, as in a statement.
  var text: String { "\(name) = \(value.dropFirst().contains("-") ? "'\(value)'" : value)" }

  /// Whether setting it changes the file, so that read-only connections skip it.
  package var isOfTheFile: Bool {
    [
      "application_id", "auto_vacuum", "encoding", "incremental_vacuum", "journal_mode", "legacy_file_format",
      "locking_mode", "optimize", "page_size", "schema_version", "user_version", "wal_checkpoint",
    ].contains(name)
  }
}

extension SQLText {
  /// Quotes values such as `UTF-8`, which would otherwise be expressions.
  package static func set(_ pragma: Pragma) -> SQLText { SQLText(checked: "PRAGMA \(pragma.text)") }

  /// Tests whether SQLite knows a pragma, since it silently ignores unknown ones.
  package static func knows(pragma name: String) -> SQLText {
    "SELECT 1 FROM pragma_pragma_list WHERE name = \(value: .text(name))"
  }
}
