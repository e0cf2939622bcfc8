import Foundation

/// The conversion of bytes that a history keeps of an attribute whose external storage changes.
package struct HistoryValueChange {
  private let mark: MarkChange
  /// The beginnings of bytes without a mark and of bytes with it, in the form in which the store keeps values.
  private let (plain, marked): (Data, Data)

  /// - Parameter kept: The form in which the store keeps a value.
  package init(_ mark: MarkChange, kept: (SQLValue) -> SQLValue) {
    self.mark = mark
    func start(_ bytes: [UInt8]) -> Data { if case .blob(let data) = kept(.blob(Data(bytes))) { data } else { Data() } }
    (plain, marked) = (start([]), start([1]))
  }

  /// The value in a column; null for the name of a file if the mark is removed.
  func value(of column: SharedSQL) -> SharedSQL {
    func replacing(_ old: Data, with new: Data) -> SharedSQL {
      "CAST(\(value: .blob(new)) || SUBSTR(\(column), \(number: Int64(old.count + 1))) AS \(.bytes))"
    }
    return switch mark {
    case .same: column
    case .added: "CASE WHEN \(column) IS NOT NULL THEN \(replacing(plain, with: marked)) END"
    case .removed:
      """
      CASE WHEN SUBSTR(\(column), 1, \(number: Int64(marked.count))) = \(value: .blob(marked)) \
      THEN \(replacing(marked, with: plain)) END
      """
    }
  }
}

/// Statements that adapt a history's old values to another model, and check them.
extension SharedSQL {
  private static let values: SharedSQL = "\(name: OldValuesLayout.valueTable)"
  private static let members: SharedSQL = "\(name: OldValuesLayout.memberTable)"

  /// The statements of a move, in order. Rows that have moved have negative numbers until the last statement, so that
  /// entities, columns and relationships can exchange their names.
  ///
  /// - Parameter kept: The form in which the store keeps a value.
  package static func statements(_ move: OldValuesMove, kept: (SQLValue) -> SQLValue) -> [SharedSQL] {
    var statements = move.entities.map { entity -> SharedSQL in
      guard let new = entity.newNumber, !entity.columns.isEmpty else {
        return "DELETE FROM \(values) WHERE ENTITY = \(number: Int64(entity.number))"
      }
      let names = entity.columns.sorted(on: \.key)
        .map { "WHEN \(literal: $0.key) THEN \(literal: $0.value)" as SharedSQL }.joined(separator: " ")
      return """
        UPDATE \(values) SET ENTITY = \(number: -Int64(new)), COLUMNNAME = CASE COLUMNNAME \(names) \
        ELSE '-' || COLUMNNAME END WHERE ENTITY = \(number: Int64(entity.number))
        """
    }
    statements.append("DELETE FROM \(values) WHERE substr(COLUMNNAME, 1, 1) = '-'")
    statements.append("UPDATE \(values) SET ENTITY = -ENTITY WHERE ENTITY < 0")
    let numbers = move.numbers.sorted(on: \.key)
    let keptNumbers = numbers.map { (from: kept(.integer(Int64($0.key))), to: kept(.integer(Int64($0.value)))) }
    for entity in move.entities {
      guard let new = entity.newNumber, !entity.numberColumns.isEmpty, !numbers.isEmpty else { continue }
      let columns = entity.numberColumns.map { "\(literal: $0)" as SharedSQL }.joined(separator: ", ")
      statements.append(
        """
        UPDATE \(values) SET VALUE = \(renumbered("VALUE", keptNumbers)) \
        WHERE ENTITY = \(number: Int64(new)) AND COLUMNNAME IN (\(columns))
        """)
    }
    for entity in move.entities {
      for (column, mark) in entity.marks.sorted(on: \.key) {
        let rows: SharedSQL = """
          ENTITY = \(number: Int64(entity.newNumber ?? 0)) AND COLUMNNAME = \(literal: column) AND VALUE IS NOT NULL
          """
        let value = HistoryValueChange(mark, kept: kept).value(of: "VALUE")
        // Deletes the values that have no equivalent in the new type.
        statements.append("DELETE FROM \(values) WHERE \(rows) AND \(value) IS NULL")
        statements.append("UPDATE \(values) SET VALUE = \(value) WHERE \(rows)")
      }
    }
    guard !move.relationships.isEmpty, !numbers.isEmpty else { return statements + ["DELETE FROM \(members)"] }
    let names = move.relationships.sorted(on: \.key)
      .map { "WHEN \(literal: $0.key) THEN \(literal: ">\($0.value)")" as SharedSQL }.joined(separator: " ")
    let plain = numbers.map { (from: SQLValue.integer(Int64($0.key)), to: SQLValue.integer(Int64($0.value))) }
    return statements + [
      """
      UPDATE \(members) SET RELATIONSHIP = CASE RELATIONSHIP \(names) ELSE RELATIONSHIP END, \
      OWNERENTITY = \(renumbered("OWNERENTITY", plain)), MEMBERENTITY = \(renumbered("MEMBERENTITY", plain))
      """,
      "DELETE FROM \(members) WHERE substr(RELATIONSHIP, 1, 1) <> '>'",
      "UPDATE \(members) SET RELATIONSHIP = substr(RELATIONSHIP, 2)",
    ]
  }

  private static func renumbered(_ column: SharedSQL, _ numbers: [(from: SQLValue, to: SQLValue)]) -> SharedSQL {
    let cases = numbers.map { "WHEN \(value: $0.from) THEN \(value: $0.to)" as SharedSQL }
    return "CASE \(column) \(cases.joined(separator: " ")) END"
  }

  /// Deletes the old values of columns and relationships that the model doesn't have, and of changes that the history
  /// doesn't have.
  package static func pruneOldValues(to layout: OldValuesLayout) -> [SharedSQL] {
    let columns = Set(layout.tables.flatMap { $0.groups.joined() } + [OldValuesLayout.versionColumn]).sorted()
    let relationships = layout.relationships.map(\.name).sorted()
    // PostgreSQL has no empty lists.
    let isUnknown: SharedSQL =
      relationships.isEmpty ? "1 = 1 OR" : "RELATIONSHIP NOT IN (\(literals(relationships))) OR"
    return [
      """
      DELETE FROM \(values) WHERE COLUMNNAME NOT IN (\(literals(columns))) OR NOT EXISTS \
      (SELECT 1 FROM \(name: HistoryLayout.changeTable) AS c WHERE c.\(.transactionID) = \(values).TRANSACTIONID \
      AND c.\(.changedEntity) = \(values).ENTITY AND c.\(.changedKey) = \(values).ROWKEY)
      """,
      """
      DELETE FROM \(members) WHERE \(isUnknown) NOT EXISTS \
      (SELECT 1 FROM \(name: HistoryLayout.transactionTable) AS t WHERE t.\(.key) = \(members).TRANSACTIONID)
      """,
    ]
  }

  private static func literals(_ names: [String]) -> SharedSQL {
    names.map { "\(literal: $0)" as SharedSQL }.joined(separator: ", ")
  }

  // MARK: Checking. Each row has the key of an entry, a null, and two values for the description.

  static let oldValuesWithoutTransaction: [SharedSQL] = [values, members].map { table in
    """
    SELECT TRANSACTIONID, NULL, TRANSACTIONID, COUNT(*) FROM \(table) WHERE NOT EXISTS \
    (SELECT 1 FROM \(name: HistoryLayout.transactionTable) AS t WHERE t.\(.key) = \(table).TRANSACTIONID) \
    GROUP BY TRANSACTIONID
    """
  }

  static func oldValuesOfUnknownEntities(_ numbers: [Int]) -> SharedSQL {
    """
    SELECT TRANSACTIONID, NULL, ENTITY, ROWKEY FROM \(values) WHERE \(isUnknown("ENTITY", numbers)) \
    GROUP BY TRANSACTIONID, ENTITY, ROWKEY
    """
  }
}
