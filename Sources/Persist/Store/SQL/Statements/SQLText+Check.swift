/// The queries of a store check. Each returns rows of a key, an entity number and two values; each reads a table once
/// and looks up others by key, so that memory use doesn't grow with the store.
extension SQLText {
  package static let integrityCheck: SQLText = "PRAGMA integrity_check(100)"
  package static let quickCheck: SQLText = "PRAGMA quick_check(100)"

  /// The number of rows of one entity in a table.
  package static func rowCount(of table: String, entityNumber: Int) -> SQLText {
    "SELECT COUNT(*) FROM \(name: table) WHERE Z_ENT = \(number: Int64(entityNumber))"
  }

  private static func list(_ numbers: [Int]) -> SQLText {
    numbers.map { "\(number: Int64($0))" as SQLText }.joined(separator: ", ")
  }

  static func rowsOutside(entityNumbers: [Int], table: String) -> SQLText {
    """
    SELECT Z_PK, Z_ENT, Z_ENT, NULL FROM \(name: table) \
    WHERE Z_ENT IS NULL OR Z_ENT NOT IN (\(list(entityNumbers)))
    """
  }

  static func rows(entityNumbers: [Int], table: String) -> SQLText {
    "SELECT Z_PK, Z_ENT, NULL, NULL FROM \(name: table) WHERE Z_ENT IN (\(list(entityNumbers)))"
  }

  static func nulls(in column: String, of table: String, entityNumbers: [Int]) -> SQLText {
    """
    SELECT Z_PK, Z_ENT, NULL, NULL FROM \(name: table) \
    WHERE \(name: column) IS NULL AND Z_ENT IN (\(list(entityNumbers)))
    """
  }

  static func dangling(_ key: KeyReference) -> SQLText {
    """
    SELECT o.Z_PK, o.Z_ENT, o.\(name: key.column), NULL FROM \(name: key.table) AS o \
    WHERE o.\(name: key.column) IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM \(name: key.destination) AS d WHERE d.Z_PK = o.\(name: key.column))
    """
  }

  static func wrongDestination(_ key: KeyReference) -> SQLText {
    """
    SELECT o.Z_PK, o.Z_ENT, d.Z_PK, d.Z_ENT FROM \(name: key.table) AS o \
    CROSS JOIN \(name: key.destination) AS d ON d.Z_PK = o.\(name: key.column) \
    WHERE d.Z_ENT NOT IN (\(list(key.destinationNumbers)))
    """
  }

  static func wrongCompanion(_ key: KeyReference, companion: String) -> SQLText {
    """
    SELECT o.Z_PK, o.Z_ENT, o.\(name: companion), d.Z_ENT FROM \(name: key.table) AS o \
    CROSS JOIN \(name: key.destination) AS d ON d.Z_PK = o.\(name: key.column) \
    WHERE o.\(name: companion) IS NOT d.Z_ENT
    """
  }

  static func oneSided(_ key: KeyReference, back: String) -> SQLText {
    """
    SELECT o.Z_PK, o.Z_ENT, d.Z_PK, d.\(name: back) FROM \(name: key.table) AS o \
    CROSS JOIN \(name: key.destination) AS d ON d.Z_PK = o.\(name: key.column) \
    WHERE d.\(name: back) IS NOT o.Z_PK
    """
  }

  static func missingPositions(_ order: String, besideKey key: String, of table: String) -> SQLText {
    """
    SELECT Z_PK, Z_ENT, \(name: key), NULL FROM \(name: table) \
    WHERE \(name: key) IS NOT NULL AND \(name: order) IS NULL
    """
  }

  static func duplicatePositions(_ order: String, besideKey key: String, of table: String) -> SQLText {
    """
    SELECT o.Z_PK, o.Z_ENT, o.\(name: key), o.\(name: order) FROM (SELECT MAX(Z_PK) AS last FROM \(name: table) \
    WHERE \(name: key) IS NOT NULL AND \(name: order) IS NOT NULL \
    GROUP BY \(name: key), \(name: order) HAVING COUNT(*) > 1) AS found \
    CROSS JOIN \(name: table) AS o ON o.Z_PK = found.last
    """
  }

  static func duplicates(
    in columns: [String], of table: String, entityNumbers: [Int], _ conditions: [IndexDefinition.Condition]
  ) -> SQLText {
    let present = (columns.map { "\(name: $0) IS NOT NULL" as SQLText } + conditions.map(condition))
      .joined(separator: " AND ")
    let first = columns.prefix(1).map { "o.\(name: $0)" as SQLText }.joined(separator: ", ")
    return """
      SELECT o.Z_PK, o.Z_ENT, found.rows, \(first) FROM \
      (SELECT MIN(Z_PK) AS first, COUNT(*) AS rows FROM \(name: table) \
      WHERE \(present) AND Z_ENT IN (\(list(entityNumbers))) GROUP BY \(names: columns) HAVING COUNT(*) > 1) AS found \
      CROSS JOIN \(name: table) AS o ON o.Z_PK = found.first
      """
  }

  /// The owner's key in the join row identifies the row with the problem; if it is null, the row has no owner at all.
  static func danglingMembers(_ key: KeyReference, owner: String) -> SQLText {
    """
    SELECT j.\(name: owner), NULL, j.\(name: key.column), NULL FROM \(name: key.table) AS j \
    WHERE NOT EXISTS (SELECT 1 FROM \(name: key.destination) AS d WHERE d.Z_PK = j.\(name: key.column))
    """
  }

  static func wrongMembers(_ key: KeyReference, owner: String) -> SQLText {
    """
    SELECT j.\(name: owner), NULL, d.Z_PK, d.Z_ENT FROM \(name: key.table) AS j \
    CROSS JOIN \(name: key.destination) AS d ON d.Z_PK = j.\(name: key.column) \
    WHERE d.Z_ENT NOT IN (\(list(key.destinationNumbers)))
    """
  }

  static func missingJoinPositions(_ order: String, owner: String, of table: String) -> SQLText {
    "SELECT \(name: owner), NULL, NULL, NULL FROM \(name: table) WHERE \(name: order) IS NULL"
  }

  static func duplicateJoinPositions(_ order: String, owner: String, of table: String) -> SQLText {
    """
    SELECT \(name: owner), NULL, \(name: order), NULL FROM \(name: table) WHERE \(name: order) IS NOT NULL \
    GROUP BY \(name: owner), \(name: order) HAVING COUNT(*) > 1
    """
  }

  static func duplicateMembers(of table: String, owner: String, member: String) -> SQLText {
    """
    SELECT \(name: owner), NULL, \(name: member), NULL FROM \(name: table) \
    GROUP BY \(name: owner), \(name: member) HAVING COUNT(*) > 1
    """
  }

  static func keyCounter(table: String, entityNumber: Int) -> SQLText {
    """
    SELECT NULL, NULL, p.Z_MAX, t.greatest FROM (SELECT MAX(Z_PK) AS greatest FROM \(name: table)) AS t \
    LEFT JOIN Z_PRIMARYKEY AS p ON p.Z_ENT = \(number: Int64(entityNumber)) \
    WHERE p.Z_ENT IS NULL OR (t.greatest IS NOT NULL AND (p.Z_MAX IS NULL OR p.Z_MAX < t.greatest))
    """
  }

  /// A row if the entity has none among the key counters.
  static func missingKeyCounter(entityNumber: Int) -> SQLText {
    """
    SELECT NULL, NULL, NULL, NULL \
    WHERE NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = \(number: Int64(entityNumber)))
    """
  }

  /// Rows whose value is stored in a file, in the form of a byte 2 followed by the file's name.
  package static func externalFiles(in column: String, of table: String) -> SQLText {
    """
    SELECT Z_PK, Z_ENT, CAST(SUBSTR(CAST(\(name: column) AS BLOB), 2, 255) AS BLOB) FROM \(name: table) \
    WHERE SUBSTR(CAST(\(name: column) AS BLOB), 1, 1) = x'02'
    """
  }
}

/// A column with keys of another table's rows.
package struct KeyReference: Sendable {
  package let table: String
  package let column: String
  package let destination: String
  /// The valid entity numbers of those rows.
  package let destinationNumbers: [Int]

  package init(table: String, column: String, destination: String, destinationNumbers: [Int]) {
    self.table = table
    self.column = column
    self.destination = destination
    self.destinationNumbers = destinationNumbers
  }
}
