import Foundation

/// Searches single texts: those of objects with unsaved values, and those shown with marked matches.
///
/// SQLite itself searches them, in an in-memory database that contains one text at a time, so that words are tokenized
/// as in a store's index. Nothing is kept: each text is rolled back after it was examined.
final class SingleTextIndex: TextSearcher {
  private let search: FullTextSearch
  private let connection: SQLiteConnection

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` if SQLite has no FTS5.
  init(_ search: FullTextSearch) throws {
    self.search = search
    connection = try SQLiteConnection(nil, mode: .memory)
    try connection.requireFullText()
    try connection.execute(.createSingleText(search))
  }

  deinit { connection.close() }

  func matches(_ text: String, _ query: FullTextQuery) throws -> Bool {
    try withText(text) { try connection.first(.singleTextMatches(search, query.text)) { _ in true } ?? false }
  }

  /// - Parameters:
  ///   - wordCount: The number of words to show, from 1 to 64; nil for the whole text.
  /// - Returns: Nil if the text doesn't match.
  func excerpt(_ text: String, _ query: FullTextQuery, wordCount: Int?) throws -> TextExcerpt? {
    // Random marks, which no text contains by chance.
    let random = UUID().uuidString
    let marks = (start: "\u{2}\(random)", end: "\u{3}\(random)", cut: "…")
    return try withText(text) {
      try connection.first(.markedText(search, query.text, marks: marks, wordCount: wordCount)) { row in
        TextExcerpt(marked: row.text(0), start: marks.start, end: marks.end)
      }
    }
  }

  private func withText<T>(_ text: String, _ body: () throws -> T) throws -> T {
    try connection.execute(.begin)
    defer { _ = try? connection.execute(.rollback) }
    try connection.execute(.addSingleText(search, text))
    return try body()
  }
}
