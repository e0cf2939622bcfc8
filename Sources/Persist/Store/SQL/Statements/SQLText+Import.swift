/// Statements of an import into a file, which collects the keys of its rows and the members of to-many relationships in
/// temporary tables, so that memory use doesn't grow with their number.
extension SQLText {
  package static let createImportTables: [SQLText] = [
    """
    CREATE TEMP TABLE Z_PERSIST_IMPORTED (root INTEGER, key INTEGER, file INTEGER, line INTEGER, \
    PRIMARY KEY (root, key)) WITHOUT ROWID
    """,
    // The place -1 represents the owner itself, whose members are known even if there are none.
    """
    CREATE TEMP TABLE Z_PERSIST_MEMBERS (relationship INTEGER, owner INTEGER, place INTEGER, member INTEGER, \
    PRIMARY KEY (relationship, owner, place)) WITHOUT ROWID
    """,
  ]

  package static let dropImportTables: [SQLText] = [
    "DROP TABLE temp.Z_PERSIST_IMPORTED", "DROP TABLE temp.Z_PERSIST_MEMBERS",
  ]

  /// Parameters: the number of the hierarchy's root, the key, the number of the file, and the line.
  package static let recordImported: SQLText = """
    INSERT INTO temp.Z_PERSIST_IMPORTED (root, key, file, line) \
    VALUES (\(parameter: ()), \(parameter: ()), \(parameter: ()), \(parameter: ()))
    """

  /// Parameters: the relationship's number, the owner's key, the place and the member's key.
  package static let recordMember: SQLText = """
    INSERT INTO temp.Z_PERSIST_MEMBERS (relationship, owner, place, member) \
    VALUES (\(parameter: ()), \(parameter: ()), \(parameter: ()), \(parameter: ()))
    """

  /// Parameter: the key.
  package static func isRow(of table: String) -> SQLText {
    "SELECT 1 FROM \(name: table) WHERE Z_PK = \(parameter: ())"
  }

  package static func hasRows(_ table: String) -> SQLText { "SELECT 1 FROM \(name: table) LIMIT 1" }
}
