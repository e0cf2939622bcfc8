import Foundation
import Persist
import PersistInspection

/// The text that the user types about the objects of an entity: a predicate, or clauses of a request line.
///
/// `price < 5 sort by name` continues `Item where`; a text that begins with `where`, `sort by`, `limit` or `offset`
/// continues `Item`.
struct QueryText {
  private let line: String
  /// The number of characters before the user's text.
  private let prefixLength: Int

  init(_ text: String, entity: String) {
    let start = text.drop(while: \.isWhitespace)
    let clauses = [#/where\s/#, #/sort\s+by\s/#, #/limit\s+[0-9]/#, #/offset\s+[0-9]/#].map { $0.ignoresCase() }
    let isClause = clauses.contains { start.prefixMatch(of: $0) != nil }
    let prefix = start.isEmpty || isClause ? "\(entity) " : "\(entity) where "
    line = prefix + text
    prefixLength = prefix.count
  }

  /// - Throws: ``PlacedError``.
  func parsed() throws -> QueryLine {
    do {
      return try QueryLine(line)
    } catch let error as PersistenceError {
      let start = error.code == .invalidPredicate ? QueryLine.predicateStart(in: line) : nil
      let column = start.flatMap { start in error.place.column.map { start + $0 - 1 - prefixLength } }
      throw PlacedError(error: error, column: column.map { max(0, $0) })
    }
  }
}
