/// Writing rows. Values are parameters in order of appearance.
extension SQLText {
  /// The tables of every store apart from those of its entities.
  package static let storeTables: [SQLText] = [
    "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
    "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
    "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
  ]

  package static func addEntityNumber(_ number: Int, name: String, parent: Int) -> SQLText {
    """
    INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES \
    (\(value: .integer(Int64(number))), \(value: .text(name)), \(value: .integer(Int64(parent))), 0)
    """
  }

  /// The greatest key assigned in a table: the counter's value, or the greatest key of the rows if that is greater.
  package static func greatestKey(of table: String, entity number: Int) -> SQLText {
    """
    SELECT MAX(IFNULL((SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number: Int64(number))), 0), \
    IFNULL((SELECT MAX(Z_PK) FROM \(name: table)), 0))
    """
  }

  package static func setGreatestKey(_ key: Int64, entity number: Int, name: String) -> SQLText {
    """
    INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES \
    (\(value: .integer(Int64(number))), \(value: .text(name)), 0, \(value: .integer(key))) \
    ON CONFLICT (Z_ENT) DO UPDATE SET Z_MAX = excluded.Z_MAX
    """
  }

  static let rowVersion = SQLText(.rowVersion)
  static let countingUp = SQLText(.countingUp)

  /// Parameters: `Z_PK`, `Z_ENT`, then the columns.
  package static func insert(into table: String, _ columns: [String]) -> SQLText {
    let places = repeatElement(", \(parameter: ())" as SQLText, count: columns.count + 1).joined(separator: "")
    return """
      INSERT INTO \(name: table) (\(names: ["Z_PK", "Z_ENT"] + columns + ["Z_OPT"])) \
      VALUES (\(parameter: ())\(places), 1)
      """
  }

  /// Parameters: the columns, then the row's key and version when it was read.
  ///
  /// - Parameter checksVersion: Whether the statement has a parameter for the version.
  package static func update(_ table: String, _ columns: [String], checksVersion: Bool = true) -> SQLText {
    let assignments = columns.map { ", \(name: $0) = \(parameter: ())" as SQLText }.joined(separator: "")
    let check: SQLText = checksVersion ? " AND \(rowVersion) = \(parameter: ())" : ""
    return "UPDATE \(name: table) SET \(countingUp)\(assignments) WHERE Z_PK = \(parameter: ())\(check)"
  }

  /// Deletes rows that had the same version when they were read. Parameters: their keys, and the version.
  package static func delete(from table: String, keyCount: Int) -> SQLText {
    "DELETE FROM \(name: table) WHERE Z_PK IN (\(parameters: keyCount)) AND \(rowVersion) = \(parameter: ())"
  }

  package static func version(of key: Int64, in table: String) -> SQLText {
    "SELECT \(rowVersion) FROM \(name: table) WHERE Z_PK = \(value: .integer(key))"
  }

  /// Parameter: the key.
  package static func version(in table: String) -> SQLText {
    "SELECT \(rowVersion) FROM \(name: table) WHERE Z_PK = \(parameter: ())"
  }

  package static func setVersion(_ version: Int64, of key: Int64, in table: String) -> SQLText {
    "UPDATE \(name: table) SET Z_OPT = \(value: .integer(version)) WHERE Z_PK = \(value: .integer(key))"
  }

  package static func countVersionUp(of key: Int64, in table: String) -> SQLText {
    "UPDATE \(name: table) SET \(countingUp) WHERE Z_PK = \(value: .integer(key))"
  }

  /// Keys and versions of the rows with keys in a JSON array.
  package static func versions(in table: String, keys: String) -> SQLText {
    """
    SELECT Z_PK, \(rowVersion) FROM \(name: table) \
    WHERE Z_PK IN (SELECT value FROM json_each(\(value: .text(keys))))
    """
  }

  /// The leading bytes of columns whose values may be stored in files, long enough for a file's name. Parameter: the
  /// key.
  package static func fileNames(in table: String, _ columns: [String]) -> SQLText {
    let heads = columns.map { "substr(\(name: $0), 1, 300)" as SQLText }.joined(separator: ", ")
    return "SELECT \(heads) FROM \(name: table) WHERE Z_PK = \(parameter: ())"
  }

  /// Sets the given columns of a row to null. Parameter: the key.
  package static func clear(_ columns: [String], of table: String) -> SQLText {
    let assignments = columns.map { "\(name: $0) = NULL" as SQLText }.joined(separator: ", ")
    return "UPDATE \(name: table) SET \(assignments) WHERE Z_PK = \(parameter: ())"
  }

  // MARK: Many-to-many relationships

  /// Adds a pair if it doesn't exist yet. Parameters: the owner, the member, and the position in each order column.
  package static func join(_ table: String, owner: String, member: String, orders: [String]) -> SQLText {
    let columns = [owner, member] + orders
    return "INSERT OR IGNORE INTO \(name: table) (\(names: columns)) VALUES (\(parameters: columns.count))"
  }

  /// The greatest position among the members of a row. Parameter: its key.
  package static func lastPlace(in table: String, owner: String, order: String) -> SQLText {
    "SELECT MAX(\(name: order)) FROM \(name: table) WHERE \(name: owner) = \(parameter: ())"
  }

  /// Parameters: the owner and the member.
  package static func deletePair(_ table: String, owner: String, member: String) -> SQLText {
    "DELETE FROM \(name: table) WHERE \(name: owner) = \(parameter: ()) AND \(name: member) = \(parameter: ())"
  }

  /// Deletes all pairs of rows. Parameters: their keys.
  package static func deleteAllPairs(_ table: String, column: String, keyCount: Int) -> SQLText {
    "DELETE FROM \(name: table) WHERE \(name: column) IN (\(parameters: keyCount))"
  }

  // MARK: Owner columns

  /// Sets a row's owner. Parameters: the owner, its entity number if there is a column for it, the row's key.
  package static func own(_ table: String, column: String, entityColumn: String?) -> SQLText {
    let entity: SQLText = entityColumn.map { ", \(name: $0) = \(parameter: ())" } ?? ""
    return "UPDATE \(name: table) SET \(name: column) = \(parameter: ())\(entity) WHERE Z_PK = \(parameter: ())"
  }

  /// Removes a row from its owner. Parameters: the row's key and the owner.
  package static func removeFromOwner(_ table: String, column: String, beside: [String]) -> SQLText {
    let assignments = ([column] + beside).map { "\(name: $0) = NULL" as SQLText }.joined(separator: ", ")
    return """
      UPDATE \(name: table) SET \(assignments) WHERE Z_PK = \(parameter: ()) AND \(name: column) = \(parameter: ())
      """
  }

  /// Removes all rows from an owner. Parameter: the owner.
  package static func removeAllFromOwners(
    _ table: String, column: String, beside: [String], keyCount: Int
  ) -> SQLText {
    let assignments = ([column] + beside).map { "\(name: $0) = NULL" as SQLText }.joined(separator: ", ")
    return "UPDATE \(name: table) SET \(assignments) WHERE \(name: column) IN (\(parameters: keyCount))"
  }

  // MARK: Positions in an order

  /// The members of an owner with their positions. Parameter: the owner.
  package static func places(in table: String, owner: String, member: String, order: String) -> SQLText {
    "SELECT \(name: member), \(name: order) FROM \(name: table) WHERE \(name: owner) = \(parameter: ())"
  }

  /// Parameters: the position, the owner and the member.
  package static func setPlace(in table: String, owner: String, member: String, order: String) -> SQLText {
    """
    UPDATE \(name: table) SET \(name: order) = \(parameter: ()) \
    WHERE \(name: owner) = \(parameter: ()) AND \(name: member) = \(parameter: ())
    """
  }
}

/// Values in files, for moving them into their rows.
extension SQLText {
  /// The key and content of the rows whose value is stored in a file.
  package static func valuesInFiles(of table: String, column: String) -> SQLText {
    "SELECT Z_PK, \(name: column) FROM \(name: table) WHERE substr(\(name: column), 1, 1) = x'02'"
  }

  package static func setValue(_ value: SQLValue, of column: String, in table: String, key: Int64) -> SQLText {
    "UPDATE \(name: table) SET \(name: column) = \(value: value) WHERE Z_PK = \(value: .integer(key))"
  }
}
