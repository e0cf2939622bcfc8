/// That the words of an attribute's texts can be searched for, and how texts are taken apart into words.
///
/// ```swift
/// var body = AttributeDescription("body", .string)
/// body.fullTextSearch = .words
/// ```
///
/// A store keeps an index of the words beside its tables (SQLite's FTS5), and predicates ask it with `MATCHTEXT`. In a
/// model file the attribute's user info says the same under the key `PersistFullTextSearch`: `words`, `stems` or
/// `trigrams`, and where prefixes are indexed their lengths, as in `words prefix 2 3`.
///
/// It is no part of the attribute's fingerprint: a store gets, changes or loses the index when it is opened for
/// writing, without a migration.
///
/// - SeeAlso: <https://sqlite.org/fts5.html#tokenizers>
public struct FullTextSearch: Sendable, Hashable {
  /// What counts as a word, and which words are the same.
  public enum Tokenizer: String, Sendable, Hashable, CaseIterable {
    /// Letters and digits in a row, without regard to case and diacritical marks.
    case words
    /// As ``words``, and English words without their endings: "running" and "runs" are the same.
    case stems
    /// Every three characters in a row: finds parts of words, of at least three characters, also in scripts without
    /// spaces. SQLite has it from version 3.34 on.
    case trigrams
  }

  public var tokenizer: Tokenizer
  /// Lengths in characters, from 1 to 999, of beginnings of words that have an index of their own, so that `te*` is
  /// found faster.
  public var prefixLengths: [Int]

  public init(_ tokenizer: Tokenizer = .words, prefixLengths: [Int] = []) {
    self.tokenizer = tokenizer
    self.prefixLengths = Set(prefixLengths).sorted()
  }

  public static let words = FullTextSearch(.words)
  public static let stems = FullTextSearch(.stems)
  public static let trigrams = FullTextSearch(.trigrams)

  /// What a user info that asks for full-text search has.
  public static let userInfoKey = "PersistFullTextSearch"
}

extension FullTextSearch: LosslessStringConvertible {
  /// Reads what ``description`` gives; `YES` and `1` are ``words``.
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
  /// How the attribute's texts are searched; nil where they aren't. Kept in ``userInfo``.
  public var fullTextSearch: FullTextSearch? {
    get { userInfo[FullTextSearch.userInfoKey].flatMap(FullTextSearch.init) }
    set { userInfo[FullTextSearch.userInfoKey] = newValue?.description }
  }
}

extension AttributeDescription {
  /// Whether the attribute can have an index of its words, and shall. What triggers compute has none: in which order
  /// triggers fire, SQLite doesn't say.
  var isFullTextSearched: Bool {
    fullTextSearch != nil && type == .string && !isTransient && !isDerived && !allowsExternalStorage
  }
}
