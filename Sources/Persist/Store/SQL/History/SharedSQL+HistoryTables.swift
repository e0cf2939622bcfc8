/// Changes of the tables of a history.
extension SharedSQL {
  package static func addHistoryText(_ text: String, key: Int64) -> SharedSQL {
    """
    INSERT INTO \(name: HistoryLayout.textTable) (\(.key), \(.entity), \(.historyText)) \
    VALUES (\(value: .integer(key)), \(number: Int64(HistoryLayout.EntityNumber.text)), \(value: .text(text)))
    """
  }

  package static func addTombstone(_ column: String) -> SharedSQL {
    "ALTER TABLE \(name: HistoryLayout.changeTable) ADD COLUMN \(name: column) \(.bytes)"
  }

  package static func dropTable(ofHistory table: String) -> SharedSQL { "DROP TABLE IF EXISTS \(name: table)" }

  package static let deleteHistoryNumbers: SharedSQL = """
    DELETE FROM \(.entities) WHERE \(.entity) IN (\(numbers: HistoryLayout.entityNames.keys.sorted()))
    """
}
