import Foundation
import Persist

/// A mark of a store's model and layout, which is replaced whenever these are written.
///
/// The mark is in a table and, a second time, in a function. A row of the table belongs to the state that a transaction
/// sees. The function is part of the server's catalog, which a transaction sees as it is now, like the tables' columns:
/// a transaction that holds an older state would otherwise read changed tables without noticing.
struct ServerMark: Hashable, Sendable {
  let text: String

  static func new() -> ServerMark { ServerMark(text: UUID().uuidString) }

  static let function = "PERSIST_MARK"
  private static let key = "mark"

  /// Reads the mark of the state that the transaction sees.
  static let stored: ServerText = """
    SELECT convert_from(value, 'UTF8') FROM \(table: "PERSIST_METADATA") WHERE key = \(literal: key)
    """

  /// Reads the mark of the present tables.
  ///
  /// The server notices another program's change of a function when it next locks a table. Therefore this comes after
  /// the statements that it vouches for.
  static let present: ServerText = "SELECT \(table: function)()"

  /// A value, true, with its source. Fails if the stored mark is another one: the text of a condition that doesn't hold
  /// is no number.
  var requirement: ServerText {
    """
    CASE WHEN count(*) = 1 THEN true ELSE (count(*) || ' marks')::int = 1 END \
    FROM \(table: "PERSIST_METADATA") WHERE key = \(literal: Self.key) AND value = convert_to(\(text: text), 'UTF8')
    """
  }

  /// Reads the first row of either statement; nil if there is none.
  init?(_ result: (any ServerResult)?) {
    guard let result, result.rowCount > 0 else { return nil }
    text = result.text(0, 0)
  }

  private init(text: String) { self.text = text }

  /// Writes the mark. Only one program may do so at a time; see ``ServerText/lock(_:)``.
  var statements: [ServerText] {
    [
      """
      INSERT INTO \(table: "PERSIST_METADATA") VALUES (\(text: Self.key), convert_to(\(text: text), 'UTF8')) \
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """,
      """
      CREATE OR REPLACE FUNCTION \(table: Self.function)() RETURNS text LANGUAGE sql STABLE \
      AS \(literal: "SELECT '\(text)'::text")
      """,
    ]
  }
}

extension ServerFailure {
  /// Whether ``ServerMark/requirement`` may have failed: no other statement of a save converts texts to numbers, but a
  /// trigger of others may.
  var isOfMark: Bool { state == "22P02" }
}
