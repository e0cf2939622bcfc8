/// Repairs of a store that don't require guessing.
extension SQLText {
  /// The file names in a column's values: 36 characters after a byte 2.
  package static func fileNames(in column: String, of table: String) -> SQLText {
    """
    SELECT CAST(SUBSTR(\(name: column), 2, 36) AS BLOB) FROM \(name: table) \
    WHERE LENGTH(\(name: column)) = 38 AND SUBSTR(\(name: column), 1, 1) = x'02'
    """
  }

  /// Rows whose value is stored in a file, in the form of a byte 2 followed by the file's name.
  package static func externalFiles(in column: String, of table: String) -> SQLText {
    """
    SELECT Z_PK, Z_ENT, CAST(SUBSTR(CAST(\(name: column) AS BLOB), 2, 255) AS BLOB) FROM \(name: table) \
    WHERE SUBSTR(CAST(\(name: column) AS BLOB), 1, 1) = x'02'
    """
  }

  /// Raises the key counter to the greatest key in use.
  package static func raiseKeyCounter(table: String, entityNumber: Int) -> SQLText {
    let greatest: SQLText = "(SELECT MAX(Z_PK) FROM \(name: table))"
    return """
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(greatest) \
      WHERE Z_ENT = \(number: Int64(entityNumber)) AND IFNULL(Z_MAX, -1) < \(greatest)
      """
  }

  /// Adds the missing row of an entity's key counter, unless the entity may have another number: if rows of its
  /// hierarchy have a number that isn't listed.
  ///
  /// - Parameters:
  ///   - table: The table whose keys the row counts; nil for a subentity, whose root has the counter.
  ///   - rows: The table of the hierarchy.
  ///   - numbers: The numbers of all entities of the store.
  package static func addKeyCounter(
    _ row: EntityNumbers.Row, table: String?, rows: String, numbers: [Int]
  ) -> SQLText {
    let greatest: SQLText = table.map { "IFNULL((SELECT MAX(Z_PK) FROM \(name: $0)), 0)" } ?? "0"
    return """
      INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
      SELECT \(numbers: [row.number]), \(literal: row.name), \(numbers: [row.parent]), \(greatest) \
      WHERE NOT EXISTS (SELECT 1 FROM Z_PRIMARYKEY WHERE Z_ENT = \(numbers: [row.number])) \
      AND NOT EXISTS (SELECT 1 FROM \(name: rows) WHERE Z_ENT NOT IN (\(numbers: numbers)))
      """
  }

  /// Corrects the entity numbers beside keys to those of the referenced rows.
  package static func correctCompanions(_ key: KeyReference, companion: String) -> SQLText {
    """
    UPDATE \(name: key.table) SET \(name: companion) = \
    (SELECT d.Z_ENT FROM \(name: key.destination) AS d WHERE d.Z_PK = \(name: key.table).\(name: key.column)) \
    WHERE EXISTS (SELECT 1 FROM \(name: key.destination) AS d WHERE d.Z_PK = \(name: key.table).\(name: key.column) \
    AND d.Z_ENT IS NOT \(name: key.table).\(name: companion))
    """
  }

  /// Sets dangling keys to null, with their accompanying columns.
  package static func emptyDangling(_ key: KeyReference, beside: [String]) -> SQLText {
    let assignments = ([key.column] + beside).map { name -> SQLText in "\(name: name) = NULL" }.joined(separator: ", ")
    return """
      UPDATE \(name: key.table) SET \(assignments) WHERE \(name: key.column) IS NOT NULL AND NOT EXISTS \
      (SELECT 1 FROM \(name: key.destination) AS d WHERE d.Z_PK = \(name: key.table).\(name: key.column))
      """
  }

  /// Deletes dangling pairs.
  package static func deleteDanglingPairs(_ key: KeyReference) -> SQLText {
    """
    DELETE FROM \(name: key.table) WHERE NOT EXISTS \
    (SELECT 1 FROM \(name: key.destination) AS d WHERE d.Z_PK = \(name: key.table).\(name: key.column))
    """
  }
}
