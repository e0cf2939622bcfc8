/// The valid values of a pragma.
///
/// - SeeAlso: <https://sqlite.org/pragma.html>
enum PragmaValues {
  case words([String])
  /// `ON` or `OFF` and their synonyms, and additional words.
  case boolean(or: [String])
  case number
  case pageSize

  /// Nil for a pragma whose values aren't checked.
  init?(of name: String) {
    switch name {
    case "journal_mode": self = .words(["DELETE", "TRUNCATE", "PERSIST", "MEMORY", "WAL", "OFF"])
    case "synchronous": self = .words(["OFF", "NORMAL", "FULL", "EXTRA", "0", "1", "2", "3"])
    case "locking_mode": self = .words(["NORMAL", "EXCLUSIVE"])
    case "temp_store": self = .words(["DEFAULT", "FILE", "MEMORY", "0", "1", "2"])
    case "auto_vacuum": self = .words(["NONE", "FULL", "INCREMENTAL", "0", "1", "2"])
    case "encoding": self = .words(["UTF-8", "UTF-16", "UTF-16le", "UTF-16be", "UTF8", "UTF16", "UTF16le", "UTF16be"])
    case "wal_checkpoint": self = .words(["PASSIVE", "FULL", "RESTART", "TRUNCATE", "NOOP"])
    case "secure_delete": self = .boolean(or: ["FAST"])
    case "writable_schema": self = .boolean(or: ["RESET"])
    case "automatic_index", "case_sensitive_like", "cell_size_check", "checkpoint_fullfsync", "count_changes",
      "defer_foreign_keys", "empty_result_callbacks", "foreign_keys", "full_column_names", "fullfsync",
      "ignore_check_constraints", "legacy_alter_table", "query_only", "read_uncommitted", "recursive_triggers",
      "reverse_unordered_selects", "short_column_names", "trusted_schema":
      self = .boolean(or: [])
    case "page_size": self = .pageSize
    case "analysis_limit", "application_id", "busy_timeout", "cache_size", "default_cache_size", "hard_heap_limit",
      "incremental_vacuum", "journal_size_limit", "max_page_count", "mmap_size", "optimize", "schema_version",
      "soft_heap_limit", "threads", "user_version", "wal_autocheckpoint":
      self = .number
    default: return nil
    }
  }

  func contain(_ value: String) -> Bool {
    switch self {
    case .words(let words): words.contains { $0.lowercased() == value.lowercased() }
    case .boolean(let words): (Self.truths + words).contains { $0.lowercased() == value.lowercased() }
    case .number: Self.number(value) != nil
    case .pageSize: Self.number(value).map { (512...65_536).contains($0) && $0 & ($0 - 1) == 0 } ?? false
    }
  }

  /// The description of the values in messages.
  var words: String {
    switch self {
    case .words(let words): words.joined(separator: ", ")
    case .boolean(let words): (["ON", "OFF"] + words).joined(separator: ", ")
    case .number: "a whole number"
    case .pageSize: "a power of two from 512 to 65536"
    }
  }

  private static let truths = ["ON", "OFF", "YES", "NO", "TRUE", "FALSE", "1", "0"]

  private static func number(_ text: String) -> Int64? {
    text.lowercased().hasPrefix("0x") ? Int64(text.dropFirst(2), radix: 16) : Int64(text)
  }
}
