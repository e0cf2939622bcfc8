import Foundation
import Persist

/// A mark of a store's model and layout, which is replaced whenever these are written.
///
/// The mark is in a table and, a second time, in a function. A row of the table belongs to the state that a transaction
/// sees. The function is part of the server's catalog, which a transaction sees as it is now, like the tables' columns:
/// a transaction that holds an older state would otherwise read changed tables without noticing.
///
/// A restored dump has the same mark, but in rows that another transaction wrote. A transaction that holds an older
/// state sees none of these.
struct ServerMark: Hashable, Sendable {
  private let text: String
  /// The number of the transaction that wrote the stored mark.
  private let row: String
  /// The number of the database, which may be another one at the same address later.
  let database: String
  let life: ServerLife

  static let function = "PERSIST_MARK"
  private static let key = "mark"

  /// Reads the mark of the state that the transaction sees.
  static let stored: ServerText = """
    SELECT convert_from(value, 'UTF8'), xmin::text FROM \(table: "PERSIST_METADATA") WHERE key = \(literal: key)
    """

  /// Reads the mark of the present tables.
  ///
  /// The server notices another program's change of a function when it next locks a table. Therefore this comes after
  /// the statements that it vouches for.
  static let present: ServerText = """
    SELECT \(table: function)(), \
    (SELECT xmin::text FROM \(table: "PERSIST_METADATA") WHERE key = \(literal: key))
    """

  /// Reads the number of the connection's database.
  static let presentDatabase: ServerText = "SELECT \(ServerLife.database)"

  /// Reads everything that a mark consists of.
  static let whole: ServerText = """
    SELECT convert_from(m.value, 'UTF8'), m.xmin::text, \(ServerLife.database), \
    convert_from(l.value, 'UTF8'), l.xmin::text FROM \(table: "PERSIST_METADATA") AS m \
    LEFT JOIN \(table: "PERSIST_METADATA") AS l ON l.key = \(literal: ServerLife.key) WHERE m.key = \(literal: key)
    """

  /// A value, true, with its source. Fails if the stored mark is another one: the text of a condition that doesn't hold
  /// is no number.
  var requirement: ServerText {
    """
    CASE WHEN count(*) = 1 THEN true ELSE (count(*) || ' marks')::int = 1 END \
    FROM \(table: "PERSIST_METADATA") WHERE key = \(literal: Self.key) \
    AND value = convert_to(\(text: text), 'UTF8') AND xmin = \(text: row)::xid
    """
  }

  /// The parameters of the requirement.
  var parameters: [ServerParameter] { [.text(text), .text(row)] }

  /// - Parameter result: The result of ``whole``.
  init?(_ result: any ServerResult) {
    guard result.rowCount > 0 else { return nil }
    (text, row, database) = (result.text(0, 0), result.text(0, 1), result.text(0, 2))
    life = ServerLife(
      certificate: result.isNull(0, 3) ? nil : result.text(0, 3), writtenBy: result.text(0, 4), in: database)
  }

  /// Whether a store has this mark.
  ///
  /// - Parameter result: The result of ``stored`` or ``present``.
  func isMark(in result: (any ServerResult)?) -> Bool {
    guard let result, result.rowCount > 0, !result.isNull(0, 1) else { return false }
    return result.text(0, 0) == text && result.text(0, 1) == row
  }

  /// Writes another mark. Only one program may do so at a time; see ``ServerText/lock(_:)``.
  static var renewal: [ServerText] {
    let text = UUID().uuidString
    return [
      """
      INSERT INTO \(table: "PERSIST_METADATA") VALUES (\(text: key), convert_to(\(text: text), 'UTF8')) \
      ON CONFLICT (key) DO UPDATE SET value = excluded.value
      """,
      """
      CREATE OR REPLACE FUNCTION \(table: function)() RETURNS text LANGUAGE sql STABLE \
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
