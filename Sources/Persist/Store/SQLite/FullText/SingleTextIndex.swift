import Foundation

/// Searches single texts: those of objects whose values no store has, and those that are shown with what was found.
///
/// SQLite itself does it, in a database in memory that holds one text at a time, so that words are the same there and
/// in a store's index. Nothing is kept: each text is taken back after it was looked at.
final class SingleTextIndex: FullTextMatcher {
  private let search: FullTextSearch
  private let connection: SQLiteConnection

  /// - Throws: ``PersistenceError/Code/storeOpenFailed`` where SQLite has no FTS5.
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
  ///   - wordCount: how many words of the text, from 1 to 64; nil for all of it.
  /// - Returns: nil where the text doesn't match.
  func excerpt(_ text: String, _ query: FullTextQuery, wordCount: Int?) throws -> TextExcerpt? {
    // Marks that no text holds by chance.
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
