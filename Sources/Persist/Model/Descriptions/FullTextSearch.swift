/// The full-text search of an attribute: how its strings are split into searchable words.
///
/// ```swift
/// var body = AttributeDescription("body", .string)
/// body.fullTextSearch = .words
/// ```
///
/// A store maintains an index of the words besides its tables (SQLite's FTS5), which predicates query with `MATCHTEXT`.
/// In a model file the attribute's user info has the same setting under the key `PersistFullTextSearch`: `words`,
/// `stems` or `trigrams`, followed by the lengths of indexed prefixes if any, as in `words prefix 2 3`.
///
/// It isn't part of the attribute's fingerprint: the index is created, changed or dropped when the store is opened for
/// writing, without a migration.
///
/// - SeeAlso: <https://sqlite.org/fts5.html#tokenizers>
public struct FullTextSearch: Sendable, Hashable {
  /// The definition of words, and which of them are equivalent.
  public enum Tokenizer: String, Sendable, Hashable, CaseIterable {
    /// Sequences of letters and digits, ignoring case and diacritical marks.
    case words
    /// Like ``words``, but with English words reduced to their stems: "running" and "runs" are equivalent.
    case stems
    /// All sequences of three characters: finds parts of words with at least three characters, even in scripts without
    /// spaces. Requires SQLite 3.34 or later.
    case trigrams
  }

  /// The definition of words; changing it rebuilds the index when the store is next opened for writing.
  public var tokenizer: Tokenizer
  /// Lengths, in characters from 1 to 999, of word prefixes that have a separate index, which speeds up searches such
  /// as `te*`.
  public var prefixLengths: [Int]

  /// Creates a full-text search.
  ///
  /// - Parameters:
  ///   - tokenizer: The definition of words.
  ///   - prefixLengths: Lengths of word prefixes with a separate index; sorted, without duplicates.
  public init(_ tokenizer: Tokenizer = .words, prefixLengths: [Int] = []) {
    self.tokenizer = tokenizer
    self.prefixLengths = Set(prefixLengths).sorted()
  }

  /// Search by ``Tokenizer/words``, without indexed prefixes.
  public static let words = FullTextSearch(.words)
  /// Search by ``Tokenizer/stems``, without indexed prefixes.
  public static let stems = FullTextSearch(.stems)
  /// Search by ``Tokenizer/trigrams``, without indexed prefixes.
  public static let trigrams = FullTextSearch(.trigrams)

  /// The key of the full-text search setting in an attribute's user info.
  public static let userInfoKey = "PersistFullTextSearch"
}

extension FullTextSearch: LosslessStringConvertible {
  /// Parses the form of ``description``; `YES`, `1` and `true` are also accepted for ``words``.
  public init?(_ text: String) {
    let parts = text.split(separator: " ").map(String.init)
    guard let first = parts.first else { return nil }
    let tokenizer = ["yes", "1", "true"].contains(first.lowercased()) ? .words : Tokenizer(rawValue: first)
    guard let tokenizer else { return nil }
    var lengths: [Int] = []
    if parts.count > 1 {
      guard parts[1] == "prefix", parts.count > 2 else { return nil }
      for part in parts[2...] {
        guard let length = Int(part), (1...999).contains(length) else { return nil }
        lengths.append(length)
      }
    }
    self.init(tokenizer, prefixLengths: lengths)
  }

  public var description: String {
    ([tokenizer.rawValue] + (prefixLengths.isEmpty ? [] : ["prefix"] + prefixLengths.map { String($0) }))
      .joined(separator: " ")
  }
}

extension AttributeDescription {
  /// The attribute's full-text search; nil if it has none. Stored in ``userInfo``.
  public var fullTextSearch: FullTextSearch? {
    get { userInfo[FullTextSearch.userInfoKey].flatMap(FullTextSearch.init) }
    set { userInfo[FullTextSearch.userInfoKey] = newValue?.description }
  }
}

extension AttributeDescription {
  /// Whether the attribute requests a full-text index and can have one. Values computed by triggers can't: SQLite
  /// doesn't define the order in which triggers fire.
  package var isFullTextSearched: Bool {
    fullTextSearch != nil && type == .string && !isTransient && !isDerived && !allowsExternalStorage
  }
}
