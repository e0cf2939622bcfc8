/// Statements that delete the oldest part of a history, and those for the positions of its readers.
extension SQLText {
  private static let transactions: SQLText = "\(name: HistoryLayout.transactionTable)"

  /// The number of the first transaction; no row if there is none.
  package static let firstTransaction: SQLText = "SELECT Z_PK FROM \(transactions) ORDER BY Z_PK LIMIT 1"

  package static func hasTransaction(_ number: Int64) -> SQLText {
    "SELECT 1 FROM \(transactions) WHERE Z_PK = \(value: .integer(number))"
  }

  package static func timeOfTransaction(_ number: Int64) -> SQLText {
    "SELECT ZTIMESTAMP FROM \(transactions) WHERE Z_PK = \(value: .integer(number))"
  }

  /// Number and time of the last transaction with a smaller number.
  package static func lastTransaction(beforeNumber number: Int64) -> SQLText {
    """
    SELECT Z_PK, ZTIMESTAMP FROM \(transactions) WHERE Z_PK < \(value: .integer(number)) ORDER BY Z_PK DESC LIMIT 1
    """
  }

  /// The number of the last transaction that is certainly older than a time: none from that time up to the present
  /// precedes it. Those dated in the future were written by a clock that was wrong, and their age is unknown.
  package static func lastTransaction(before time: Double, now: Double) -> SQLText {
    """
    SELECT Z_PK FROM \(transactions) WHERE ZTIMESTAMP < \(value: .double(time)) AND Z_PK < COALESCE((\
    SELECT MIN(Z_PK) FROM \(transactions) WHERE ZTIMESTAMP >= \(value: .double(time)) \
    AND ZTIMESTAMP <= \(value: .double(now))), \(value: .integer(.max))) ORDER BY Z_PK DESC LIMIT 1
    """
  }

  /// The number of the first of the last `count` transactions.
  package static func firstTransaction(ofLast count: Int) -> SQLText {
    "SELECT Z_PK FROM \(transactions) ORDER BY Z_PK DESC LIMIT 1 OFFSET \(value: .integer(Int64(count) - 1))"
  }

  package static func deleteTransactions(before number: Int64) -> SQLText {
    "DELETE FROM \(transactions) WHERE Z_PK < \(value: .integer(number))"
  }

  package static func deleteChanges(before number: Int64) -> SQLText {
    "DELETE FROM \(name: HistoryLayout.changeTable) WHERE ZTRANSACTIONID < \(value: .integer(number))"
  }

  // MARK: Readers

  package static let historyReaderTable = "PERSIST_HISTORY_READERS"

  package static let createHistoryReaders: SQLText = """
    CREATE TABLE IF NOT EXISTS \(name: historyReaderTable) \
    (NAME VARCHAR PRIMARY KEY, TRANSACTIONID INTEGER NOT NULL, HEARD FLOAT NOT NULL)
    """

  /// The marks of readers' positions, in a table of their own beside the one that earlier releases know.
  package static let historyMarkTable = "PERSIST_HISTORY_MARKS"

  package static let createHistoryMarks: SQLText = """
    CREATE TABLE IF NOT EXISTS \(name: historyMarkTable) \
    (NAME VARCHAR PRIMARY KEY, TRANSACTIONID INTEGER NOT NULL, MARK VARCHAR NOT NULL)
    """

  /// Name, number and time of each reader.
  package static let historyReaders: SQLText =
    "SELECT NAME, TRANSACTIONID, HEARD FROM \(name: historyReaderTable) ORDER BY NAME"

  /// Name, number and mark of each position whose mark is known.
  package static let historyMarks: SQLText =
    "SELECT NAME, TRANSACTIONID, MARK FROM \(name: historyMarkTable) ORDER BY NAME"

  package static func setHistoryReader(_ name: String, _ number: Int64, _ time: Double) -> SQLText {
    """
    INSERT INTO \(name: historyReaderTable) (NAME, TRANSACTIONID, HEARD) \
    VALUES (\(value: .text(name)), \(value: .integer(number)), \(value: .double(time))) \
    ON CONFLICT (NAME) DO UPDATE SET TRANSACTIONID = excluded.TRANSACTIONID, HEARD = excluded.HEARD
    """
  }

  package static func setHistoryMark(_ name: String, _ number: Int64, _ mark: String) -> SQLText {
    """
    INSERT INTO \(name: historyMarkTable) (NAME, TRANSACTIONID, MARK) \
    VALUES (\(value: .text(name)), \(value: .integer(number)), \(value: .text(mark))) \
    ON CONFLICT (NAME) DO UPDATE SET TRANSACTIONID = excluded.TRANSACTIONID, MARK = excluded.MARK
    """
  }

  package static func removeHistoryReader(_ name: String, from table: String) -> SQLText {
    "DELETE FROM \(name: table) WHERE NAME = \(value: .text(name))"
  }
}
