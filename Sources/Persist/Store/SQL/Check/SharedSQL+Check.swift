/// The queries of a store check. Each returns rows of a key, an entity number and two values; each reads a table once
/// and looks up others by key, so that memory use doesn't grow with the store.
extension SharedSQL {
  /// The number of rows of one entity in a table.
  package static func rowCount(of table: String, entityNumber: Int) -> SharedSQL {
    "SELECT COUNT(*) FROM \(name: table) WHERE \(.entity) = \(number: Int64(entityNumber))"
  }

  static func rowsOutside(entityNumbers: [Int], table: String) -> SharedSQL {
    """
    SELECT \(.key), \(.entity), \(.entity), NULL FROM \(name: table) \
    WHERE \(.entity) IS NULL OR \(.entity) NOT IN (\(numbers: entityNumbers))
    """
  }

  static func rows(entityNumbers: [Int], table: String) -> SharedSQL {
    "SELECT \(.key), \(.entity), NULL, NULL FROM \(name: table) WHERE \(.entity) IN (\(numbers: entityNumbers))"
  }

  static func nulls(in column: String, of table: String, entityNumbers: [Int]) -> SharedSQL {
    """
    SELECT \(.key), \(.entity), NULL, NULL FROM \(name: table) \
    WHERE \(name: column) IS NULL AND \(.entity) IN (\(numbers: entityNumbers))
    """
  }

  static func dangling(_ key: KeyReference) -> SharedSQL {
    """
    SELECT o.\(.key), o.\(.entity), o.\(name: key.column), NULL FROM \(name: key.table) AS o \
    WHERE o.\(name: key.column) IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM \(name: key.destination) AS d WHERE d.\(.key) = o.\(name: key.column))
    """
  }

  static func wrongDestination(_ key: KeyReference) -> SharedSQL {
    """
    SELECT o.\(.key), o.\(.entity), d.\(.key), d.\(.entity) FROM \(name: key.table) AS o \
    \(.crossJoin) \(name: key.destination) AS d ON d.\(.key) = o.\(name: key.column) \
    WHERE d.\(.entity) NOT IN (\(numbers: key.destinationNumbers))
    """
  }

  static func wrongCompanion(_ key: KeyReference, companion: String) -> SharedSQL {
    """
    SELECT o.\(.key), o.\(.entity), o.\(name: companion), d.\(.entity) FROM \(name: key.table) AS o \
    \(.crossJoin) \(name: key.destination) AS d ON d.\(.key) = o.\(name: key.column) \
    WHERE o.\(name: companion) \(.isNot) d.\(.entity)
    """
  }

  static func oneSided(_ key: KeyReference, back: String) -> SharedSQL {
    """
    SELECT o.\(.key), o.\(.entity), d.\(.key), d.\(name: back) FROM \(name: key.table) AS o \
    \(.crossJoin) \(name: key.destination) AS d ON d.\(.key) = o.\(name: key.column) \
    WHERE d.\(name: back) \(.isNot) o.\(.key)
    """
  }

  static func missingPositions(_ order: String, besideKey key: String, of table: String) -> SharedSQL {
    """
    SELECT \(.key), \(.entity), \(name: key), NULL FROM \(name: table) \
    WHERE \(name: key) IS NOT NULL AND \(name: order) IS NULL
    """
  }

  static func duplicatePositions(_ order: String, besideKey key: String, of table: String) -> SharedSQL {
    """
    SELECT o.\(.key), o.\(.entity), o.\(name: key), o.\(name: order) FROM (SELECT MAX(\(.key)) AS last \
    FROM \(name: table) WHERE \(name: key) IS NOT NULL AND \(name: order) IS NOT NULL \
    GROUP BY \(name: key), \(name: order) HAVING COUNT(*) > 1) AS found \
    \(.crossJoin) \(name: table) AS o ON o.\(.key) = found.last
    """
  }

  static func duplicates(
    in columns: [String], of table: String, entityNumbers: [Int], _ conditions: [IndexDefinition.Condition]
  ) -> SharedSQL {
    let present = (columns.map { "\(name: $0) IS NOT NULL" as SharedSQL } + conditions.map { condition($0) })
      .joined(separator: " AND ")
    let first = columns.prefix(1).map { "o.\(name: $0)" as SharedSQL }.joined(separator: ", ")
    return """
      SELECT o.\(.key), o.\(.entity), found.rows, \(first) FROM \
      (SELECT MIN(\(.key)) AS first, COUNT(*) AS rows FROM \(name: table) \
      WHERE \(present) AND \(.entity) IN (\(numbers: entityNumbers)) GROUP BY \(names: columns) \
      HAVING COUNT(*) > 1) AS found \
      \(.crossJoin) \(name: table) AS o ON o.\(.key) = found.first
      """
  }

  /// The owner's key in the join row identifies the row with the problem; if it is null, the row has no owner at all.
  static func danglingMembers(_ key: KeyReference, owner: String) -> SharedSQL {
    """
    SELECT j.\(name: owner), NULL, j.\(name: key.column), NULL FROM \(name: key.table) AS j \
    WHERE NOT EXISTS (SELECT 1 FROM \(name: key.destination) AS d WHERE d.\(.key) = j.\(name: key.column))
    """
  }

  static func wrongMembers(_ key: KeyReference, owner: String) -> SharedSQL {
    """
    SELECT j.\(name: owner), NULL, d.\(.key), d.\(.entity) FROM \(name: key.table) AS j \
    \(.crossJoin) \(name: key.destination) AS d ON d.\(.key) = j.\(name: key.column) \
    WHERE d.\(.entity) NOT IN (\(numbers: key.destinationNumbers))
    """
  }

  static func missingJoinPositions(_ order: String, owner: String, of table: String) -> SharedSQL {
    "SELECT \(name: owner), NULL, NULL, NULL FROM \(name: table) WHERE \(name: order) IS NULL"
  }

  static func duplicateJoinPositions(_ order: String, owner: String, of table: String) -> SharedSQL {
    """
    SELECT \(name: owner), NULL, \(name: order), NULL FROM \(name: table) WHERE \(name: order) IS NOT NULL \
    GROUP BY \(name: owner), \(name: order) HAVING COUNT(*) > 1
    """
  }

  static func duplicateMembers(of table: String, owner: String, member: String) -> SharedSQL {
    """
    SELECT \(name: owner), NULL, \(name: member), NULL FROM \(name: table) \
    GROUP BY \(name: owner), \(name: member) HAVING COUNT(*) > 1
    """
  }

  static func keyCounter(table: String, entityNumber: Int) -> SharedSQL {
    """
    SELECT NULL, NULL, p.\(.greatestKey), t.greatest FROM (SELECT MAX(\(.key)) AS greatest FROM \(name: table)) AS t \
    LEFT JOIN \(.entities) AS p ON p.\(.entity) = \(number: Int64(entityNumber)) \
    WHERE p.\(.entity) IS NULL OR (t.greatest IS NOT NULL \
    AND (p.\(.greatestKey) IS NULL OR p.\(.greatestKey) < t.greatest))
    """
  }

  /// A row if the entity has none among the key counters.
  static func missingKeyCounter(entityNumber: Int) -> SharedSQL {
    """
    SELECT NULL, NULL, NULL, NULL \
    WHERE NOT EXISTS (SELECT 1 FROM \(.entities) WHERE \(.entity) = \(number: Int64(entityNumber)))
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
