/// Statements that delete the oldest part of a history, and those for the positions of its readers.
extension SharedSQL {
  private static let transactions: SharedSQL = "\(name: HistoryLayout.transactionTable)"

  /// The number of the first transaction; no row if there is none.
  package static let firstTransaction: SharedSQL = "SELECT \(.key) FROM \(transactions) ORDER BY \(.key) LIMIT 1"

  package static func hasTransaction(_ number: Int64) -> SharedSQL {
    "SELECT 1 FROM \(transactions) WHERE \(.key) = \(value: .integer(number))"
  }

  package static func timeOfTransaction(_ number: Int64) -> SharedSQL {
    "SELECT \(.time) FROM \(transactions) WHERE \(.key) = \(value: .integer(number))"
  }

  /// Number and time of the last transaction with a smaller number.
  package static func lastTransaction(beforeNumber number: Int64) -> SharedSQL {
    """
    SELECT \(.key), \(.time) FROM \(transactions) WHERE \(.key) < \(value: .integer(number)) \
    ORDER BY \(.key) DESC LIMIT 1
    """
  }

  /// The number of the last transaction that is certainly older than a time: none from that time up to the present
  /// precedes it. Those dated in the future were written by a clock that was wrong, and their age is unknown.
  package static func lastTransaction(before time: Double, now: Double) -> SharedSQL {
    """
    SELECT \(.key) FROM \(transactions) WHERE \(.time) < \(value: .double(time)) AND \(.key) < COALESCE((\
    SELECT MIN(\(.key)) FROM \(transactions) WHERE \(.time) >= \(value: .double(time)) \
    AND \(.time) <= \(value: .double(now))), \(value: .integer(.max))) ORDER BY \(.key) DESC LIMIT 1
    """
  }

  /// The number of the first of the last `count` transactions.
  package static func firstTransaction(ofLast count: Int) -> SharedSQL {
    "SELECT \(.key) FROM \(transactions) ORDER BY \(.key) DESC LIMIT 1 OFFSET \(value: .integer(Int64(count) - 1))"
  }

  package static func deleteTransactions(before number: Int64) -> SharedSQL {
    "DELETE FROM \(transactions) WHERE \(.key) < \(value: .integer(number))"
  }

  package static func deleteChanges(before number: Int64) -> SharedSQL {
    "DELETE FROM \(name: HistoryLayout.changeTable) WHERE \(.transactionID) < \(value: .integer(number))"
  }

  // MARK: Readers

  package static let historyReaderTable = "PERSIST_HISTORY_READERS"

  package static let createHistoryReaders: SharedSQL = """
    CREATE TABLE IF NOT EXISTS \(name: historyReaderTable) \
    (NAME VARCHAR PRIMARY KEY, TRANSACTIONID \(.integer) NOT NULL, HEARD FLOAT NOT NULL)
    """

  /// The marks of readers' positions, in a table of their own beside the one that earlier releases know.
  package static let historyMarkTable = "PERSIST_HISTORY_MARKS"

  package static let createHistoryMarks: SharedSQL = """
    CREATE TABLE IF NOT EXISTS \(name: historyMarkTable) \
    (NAME VARCHAR PRIMARY KEY, TRANSACTIONID \(.integer) NOT NULL, MARK VARCHAR NOT NULL)
    """

  /// Name, number and time of each reader.
  package static let historyReaders: SharedSQL =
    "SELECT NAME, TRANSACTIONID, HEARD FROM \(name: historyReaderTable) ORDER BY NAME"

  /// Name, number and mark of each position whose mark is known.
  package static let historyMarks: SharedSQL =
    "SELECT NAME, TRANSACTIONID, MARK FROM \(name: historyMarkTable) ORDER BY NAME"

  package static func setHistoryReader(_ name: String, to number: Int64, heard time: Double) -> SharedSQL {
    """
    INSERT INTO \(name: historyReaderTable) (NAME, TRANSACTIONID, HEARD) \
    VALUES (\(value: .text(name)), \(value: .integer(number)), \(value: .double(time))) \
    ON CONFLICT (NAME) DO UPDATE SET TRANSACTIONID = excluded.TRANSACTIONID, HEARD = excluded.HEARD
    """
  }

  package static func setHistoryMark(_ name: String, of number: Int64, to mark: String) -> SharedSQL {
    """
    INSERT INTO \(name: historyMarkTable) (NAME, TRANSACTIONID, MARK) \
    VALUES (\(value: .text(name)), \(value: .integer(number)), \(value: .text(mark))) \
    ON CONFLICT (NAME) DO UPDATE SET TRANSACTIONID = excluded.TRANSACTIONID, MARK = excluded.MARK
    """
  }

  package static func removeHistoryReader(_ name: String, from table: String) -> SharedSQL {
    "DELETE FROM \(name: table) WHERE NAME = \(value: .text(name))"
  }
}
