/// The temporary triggers of a connection to a file that keep the old values of a history.
///
/// - SeeAlso: <https://sqlite.org/lang_createtrigger.html#temp_triggers_on_non_temp_tables>
extension SQLText {
  private static let values: SQLText = "\(name: OldValuesLayout.valueTable)"

  private static let members: SQLText = "\(name: OldValuesLayout.memberTable)"

  /// A temporary table with the number of the transaction being recorded; empty if none is.
  private static let current: SQLText = "PERSIST_HISTORY_CURRENT"

  private static let number: SQLText = "(SELECT NUMBER FROM \(current))"

  package static let knowsOldValueTriggers: SQLText =
    "SELECT 1 FROM sqlite_temp_master WHERE name = 'PERSIST_HISTORY_CURRENT'"

  package static let createCurrentTransaction: SQLText = "CREATE TEMP TABLE \(current) (NUMBER INTEGER NOT NULL)"

  package static func beginKeeping(_ number: Int64) -> SQLText {
    "INSERT INTO temp.\(current) VALUES (\(value: .integer(number)))"
  }

  package static let endKeeping: SQLText = "DELETE FROM temp.\(current)"

  /// The triggers that keep the values of a table's rows.
  package static func oldValueTriggers(of table: OldValuesLayout.Table) -> [SQLText] {
    guard !table.groups.isEmpty else { return [] }
    let updates = table.groups.flatMap { group in
      let isChanged = group.map { "OLD.\(name: $0) IS NOT NEW.\(name: $0)" as SQLText }.joined(separator: " OR ")
      return group.map { keep($0, where: isChanged) }
    }
    let deletes = (table.groups.joined() + [OldValuesLayout.versionColumn]).map { column in
      keep(column, where: "OLD.\(name: column) IS NOT NULL")
    }
    let columns = table.groups.joined()
    return [
      trigger("\(table.name)_UPDATE", after: "UPDATE OF \(names: columns)", on: table.name, updates),
      trigger("\(table.name)_DELETE", after: "DELETE", on: table.name, deletes),
    ]
  }

  @inline(never)
  private static func trigger(
    _ name: String, after event: SQLText, on table: String, _ statements: [SQLText]
  ) -> SQLText {
    """
    CREATE TEMP TRIGGER \(name: "PERSIST_OLD_\(name)") AFTER \(event) ON main.\(name: table) \
    WHEN EXISTS (SELECT 1 FROM \(current)) BEGIN \(statements.joined(separator: "; ")); END
    """
  }

  private static func keep(_ column: String, where condition: SQLText) -> SQLText {
    """
    INSERT INTO \(values) (TRANSACTIONID, ENTITY, ROWKEY, COLUMNNAME, VALUE) \
    SELECT \(number), OLD.Z_ENT, OLD.Z_PK, \(literal: column), OLD.\(name: column) WHERE \(condition) \
    ON CONFLICT DO NOTHING
    """
  }

  /// The triggers that keep the added and removed members of a relationship.
  package static func memberTriggers(of relationship: OldValuesLayout.Relationship) -> [SQLText] {
    @inline(never)
    func keep(_ change: Int64, of owner: SQLText, member: SQLText, memberNumber: SQLText? = nil) -> SQLText {
      """
      INSERT INTO \(members) (TRANSACTIONID, RELATIONSHIP, OWNER, MEMBER, OWNERENTITY, MEMBERENTITY, CHANGE) \
      SELECT \(number), \(literal: relationship.name), \(owner), \(member), \
      \(entityNumber(of: owner, relationship.owner)), \
      \(memberNumber ?? entityNumber(of: member, relationship.member)), \(number: change) \
      WHERE \(owner) IS NOT NULL AND \(member) IS NOT NULL \
      ON CONFLICT DO UPDATE SET CHANGE = CHANGE + excluded.CHANGE
      """
    }
    switch relationship.place {
    case .join(let table, let owner, let member):
      let (added, removed): (SQLText, SQLText) = (
        keep(1, of: "NEW.\(name: owner)", member: "NEW.\(name: member)"),
        keep(-1, of: "OLD.\(name: owner)", member: "OLD.\(name: member)")
      )
      return [
        trigger("\(table)_INSERT", after: "INSERT", on: table, [added]),
        trigger("\(table)_DELETE", after: "DELETE", on: table, [removed]),
      ]
    case .column(let column):
      let table = relationship.member.table
      let removed = keep(-1, of: "OLD.\(name: column)", member: "OLD.Z_PK", memberNumber: "OLD.Z_ENT")
      let added = keep(1, of: "NEW.\(name: column)", member: "NEW.Z_PK", memberNumber: "NEW.Z_ENT")
      return [
        trigger("\(table)_\(column)_UPDATE", after: "UPDATE OF \(name: column)", on: table, [removed, added]),
        trigger("\(table)_\(column)_DELETE", after: "DELETE", on: table, [removed]),
      ]
    }
  }

  private static func entityNumber(of key: SQLText, _ end: OldValuesLayout.Relationship.End) -> SQLText {
    end.number.map { "\(number: Int64($0))" }
      ?? "(SELECT Z_ENT FROM \(name: end.table) WHERE Z_PK = \(key))"
  }

  /// Entity number, key, column and value of the old values that are names of files, or may be.
  package static func oldFileNames(ofTransaction number: Int64) -> SQLText {
    """
    SELECT ENTITY, ROWKEY, COLUMNNAME, VALUE FROM \(values) WHERE TRANSACTIONID = \(value: .integer(number)) \
    AND typeof(VALUE) = 'blob' AND substr(VALUE, 1, 1) = x'02'
    """
  }

  package static func setOldValue(
    _ new: SQLValue, ofTransaction number: Int64, entity: Int64, key: Int64, column: String
  ) -> SQLText {
    """
    UPDATE \(values) SET VALUE = \(value: new) WHERE TRANSACTIONID = \(value: .integer(number)) \
    AND ENTITY = \(value: .integer(entity)) AND ROWKEY = \(value: .integer(key)) \
    AND COLUMNNAME = \(value: .text(column))
    """
  }
}
