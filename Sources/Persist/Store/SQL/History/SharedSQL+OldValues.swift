/// The tables that contain the old values of a history.
extension SharedSQL {
  private static let values: SharedSQL = "\(name: OldValuesLayout.valueTable)"

  private static let members: SharedSQL = "\(name: OldValuesLayout.memberTable)"

  package static let oldValueTables: [SharedSQL] = [
    """
    CREATE TABLE IF NOT EXISTS \(values) (TRANSACTIONID \(.integer) NOT NULL, ENTITY \(.integer) NOT NULL, \
    ROWKEY \(.integer) NOT NULL, COLUMNNAME VARCHAR NOT NULL, VALUE \(.bytes), \
    PRIMARY KEY (TRANSACTIONID, ENTITY, ROWKEY, COLUMNNAME))\(.withoutRowID)
    """,
    """
    CREATE TABLE IF NOT EXISTS \(members) (TRANSACTIONID \(.integer) NOT NULL, RELATIONSHIP VARCHAR NOT NULL, \
    OWNER \(.integer) NOT NULL, MEMBER \(.integer) NOT NULL, OWNERENTITY \(.integer), MEMBERENTITY \(.integer), \
    CHANGE \(.integer) NOT NULL, PRIMARY KEY (TRANSACTIONID, RELATIONSHIP, OWNER, MEMBER))\(.withoutRowID)
    """,
  ]

  // MARK: Reading

  /// Entity number, key, column and value.
  ///
  /// - Parameter row: The only row whose values are selected; nil for all.
  package static func oldValues(of transaction: Int64, of row: ChangedRow? = nil) -> SharedSQL {
    let condition: SharedSQL = row.map {
      " AND ENTITY = \(number: Int64($0.entity)) AND ROWKEY = \(value: .integer($0.key))"
    } ?? ""
    return """
      SELECT ENTITY, ROWKEY, COLUMNNAME, VALUE FROM \(values) \
      WHERE TRANSACTIONID = \(value: .integer(transaction))\(condition)
      """
  }

  /// Relationship, both keys, both entity numbers, and the change.
  ///
  /// - Parameter row: A row that is an owner or a member in all selected changes; nil for all changes.
  package static func memberChanges(of transaction: Int64, of row: ChangedRow? = nil) -> SharedSQL {
    let condition: SharedSQL = row.map { " AND \(value: .integer($0.key)) IN (OWNER, MEMBER)" } ?? ""
    return """
      SELECT RELATIONSHIP, OWNER, MEMBER, OWNERENTITY, MEMBERENTITY, CHANGE FROM \(members) \
      WHERE TRANSACTIONID = \(value: .integer(transaction)) AND CHANGE <> 0\(condition)
      """
  }

  // MARK: Deleting

  package static func deleteOldValues(before number: Int64) -> [SharedSQL] {
    [values, members].map { "DELETE FROM \($0) WHERE TRANSACTIONID < \(value: .integer(number))" }
  }

  package static func deleteOldValues(of number: Int64) -> [SharedSQL] {
    [values, members].map { "DELETE FROM \($0) WHERE TRANSACTIONID = \(value: .integer(number))" }
  }

  package static let deleteAllOldValues: [SharedSQL] = [values, members].map { "DELETE FROM \($0)" }
}
