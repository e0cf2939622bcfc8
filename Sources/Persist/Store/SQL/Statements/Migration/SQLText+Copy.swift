/// Copying rows from one store to another: the source is the connection's main database, the copy is attached.
extension SQLText {
  /// The schema name under which the copy is attached.
  static let copySchema: SQLText = "copy"

  package static func attachCopy(_ uri: String) -> SQLText { "ATTACH DATABASE \(value: .text(uri)) AS \(copySchema)" }
  package static let detachCopy: SQLText = "DETACH DATABASE copy"
  /// The same with the key of the copy. Parameters: the URI and the key.
  package static let attachEncryptedCopy: SQLText = """
    ATTACH DATABASE \(parameter: 1) AS \(copySchema) KEY \(parameter: 2)
    """
  /// Undoes exclusive mode, which a source that is read without locks sets for the whole connection.
  package static let copyLockingNormal: SQLText = "PRAGMA copy.locking_mode = NORMAL"
  /// A read of the copy, which releases its lock afterward.
  package static let copyObjectCount: SQLText = "SELECT COUNT(*) FROM copy.sqlite_master"
  package static let copyJournalOff: SQLText = "PRAGMA copy.journal_mode = OFF"
  package static let copySynchronousOff: SQLText = "PRAGMA copy.synchronous = OFF"

  package static func clearCopied(_ table: String) -> SQLText { "DELETE FROM \(copySchema).\(name: table)" }

  package static func copyWhole(_ table: String, columns: [String]) -> SQLText {
    """
    INSERT INTO \(copySchema).\(name: table) (\(names: columns)) SELECT \(names: columns) FROM main.\(name: table)
    """
  }

  package static func addCopiedColumn(_ column: StoreSchema.Column, to table: String) -> SQLText {
    "ALTER TABLE \(copySchema).\(name: table) ADD COLUMN \(declaration(column))"
  }

  /// Fills columns that exist only in the source, for rows that keep their keys.
  package static func copyColumns(_ copy: ColumnCopy) -> SQLText {
    let assignments = copy.columns.map { column -> SQLText in
      "\(name: column.new) = old.\(name: column.old)"
    }.joined(separator: ", ")
    return """
      UPDATE \(copySchema).\(name: copy.target) AS own SET \(assignments) FROM main.\(name: copy.source) AS old \
      WHERE old.Z_PK = own.Z_PK AND old.Z_ENT IN (\(numbers: copy.entityNumbers))
      """
  }

  /// Copies the rows of `Z_PRIMARYKEY` that count the keys of the store's system tables.
  package static let copySystemNumbers: SQLText = """
    INSERT OR IGNORE INTO copy.Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) \
    SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM main.Z_PRIMARYKEY \
    WHERE Z_ENT >= \(number: Int64(EntityNumbers.firstSystemNumber))
    """

  package static func copy(_ copy: RowCopy) -> SQLText {
    var condition: SQLText = "+Z_ENT = \(number: Int64(copy.number))"
    if let term = copy.condition { condition += " AND \(self.term(term))" }
    let row = RowSelection.root
    return """
      INSERT INTO \(copySchema).\(name: copy.target) (\(names: copy.columns.map(\.name))) \
      SELECT \(copy.columns.map { value($0.value) }.joined(separator: ", ")) \
      FROM main.\(name: copy.source) AS \(row: row) WHERE \(condition)
      """
  }

  private static func value(_ value: RowCopy.Value) -> SQLText {
    switch value {
    case .expression(let expression): self.expression(expression)
    case .term(let term): self.term(term)
    }
  }

  private static func pairs(_ source: PairSource) -> SQLText {
    let place: SQLText = source.place.map { "\(name: $0)" } ?? "NULL"
    let inversePlace: SQLText = source.inversePlace.map { "\(name: $0)" } ?? "NULL"
    return """
      (SELECT \(name: source.owner) AS owner, \(name: source.member) AS member, \(place) AS place, \
      \(inversePlace) AS inversePlace FROM main.\(name: source.table) \
      WHERE \(name: source.owner) IS NOT NULL AND \(name: source.member) IS NOT NULL) AS pairs
      """
  }

  /// Sets the positions of owners among a member's owners for copied pairs; nil if the copy has no such positions.
  package static func inheritOrder(_ copy: PairCopy) -> SQLText? {
    let (owner, member) = (key("pairs.owner", copy.owner), key("pairs.member", copy.member))
    let same: [SQLText]
    let (table, column): (String, String)
    switch copy.target {
    case .join(let join, let ownerColumn, let memberColumn, _, let place?):
      (table, column) = (join, place)
      same = ["own.\(name: ownerColumn) = \(owner)", "own.\(name: memberColumn) = \(member)"]
    case .ownerKey(let key, let place?):
      (table, column) = (copy.owner.target, place)
      same = ["own.Z_PK = \(owner)", "own.\(name: key) = \(member)"]
    default: return nil
    }
    let conditions = exists("pairs.owner", copy.owner) + exists("pairs.member", copy.member)
    return """
      UPDATE \(copySchema).\(name: table) AS own SET \(name: column) = pairs.inversePlace \
      FROM \(pairs(copy.pairs))\(whereClause(same + conditions))
      """
  }

  package static func copy(_ copy: PairCopy) -> SQLText {
    let pairs = pairs(copy.pairs)
    let (owner, member) = (key("pairs.owner", copy.owner), key("pairs.member", copy.member))
    let conditions = exists("pairs.owner", copy.owner) + exists("pairs.member", copy.member)
    switch copy.target {
    case .join(let table, let ownerColumn, let memberColumn, let place, let inversePlace):
      // Both orders may share one column if a relationship is its own inverse.
      let places: [(String, SQLText)] = [(place, "place"), (inversePlace == place ? nil : inversePlace, "inversePlace")]
        .compactMap { column, value in column.map { ($0, value) } }
      let columns = [ownerColumn, memberColumn] + places.map(\.0)
      let values = [owner, member] + places.map(\.1)
      return """
        INSERT OR IGNORE INTO \(copySchema).\(name: table) (\(names: columns)) \
        SELECT \(values.joined(separator: ", ")) FROM \(pairs)\(whereClause(conditions))
        """
    case .ownerKey(let column, let place):
      let order: SQLText = place.map { ", \(name: $0) = pairs.inversePlace" } ?? ""
      return """
        UPDATE \(copySchema).\(name: copy.owner.target) AS own SET \(name: column) = \(member)\(order) FROM \(pairs)\
        \(whereClause(["own.Z_PK = \(owner)"] + conditions))
        """
    case .memberKey(let column, let place):
      let order: SQLText = place.map { ", \(name: $0) = pairs.place" } ?? ""
      return """
        UPDATE \(copySchema).\(name: copy.member.target) AS own SET \(name: column) = \(owner)\(order) FROM \(pairs)\
        \(whereClause(["own.Z_PK = \(member)"] + conditions))
        """
    }
  }

  private static func whereClause(_ conditions: [SQLText]) -> SQLText {
    conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
  }

  private static func key(_ column: SQLText, _ end: PairCopy.End) -> SQLText {
    end.offset == 0 ? column : "\(column) + \(number: end.offset)"
  }

  private static func exists(_ column: SQLText, _ end: PairCopy.End) -> [SQLText] {
    var conditions: [SQLText] = []
    if let number = end.sourceNumber {
      conditions.append(
        """
        EXISTS (SELECT 1 FROM main.\(name: end.source) AS old \
        WHERE old.Z_PK = \(column) AND old.Z_ENT = \(number: Int64(number)))
        """)
    }
    if !end.isComplete {
      conditions.append(
        """
        EXISTS (SELECT 1 FROM \(copySchema).\(name: end.target) AS new \
        WHERE new.Z_PK = \(key(column, end)) AND new.Z_ENT = \(number: Int64(end.targetNumber)))
        """)
    }
    return conditions
  }

  // MARK: Associations

  package static let createAssociations: SQLText = """
    CREATE TEMPORARY TABLE associations (mapping INTEGER, source INTEGER, entity INTEGER, destination INTEGER, \
    PRIMARY KEY (mapping, source, entity, destination)) WITHOUT ROWID
    """
  package static let indexAssociations: SQLText = """
    CREATE INDEX temp.associations_by_destination ON associations (mapping, entity, destination)
    """
  package static let addAssociation = PreparedSQL(
    """
    INSERT OR IGNORE INTO temp.associations (mapping, source, entity, destination) \
    VALUES (\(parameter: ()), \(parameter: ()), \(parameter: ()), \(parameter: ()))
    """)
  package static let destinationsOfSource = PreparedSQL(
    """
    SELECT entity, destination FROM temp.associations WHERE mapping = \(parameter: ()) AND source = \(parameter: ())
    """)
  package static let sourcesOfDestination = PreparedSQL(
    """
    SELECT source FROM temp.associations \
    WHERE mapping = \(parameter: ()) AND entity = \(parameter: ()) AND destination = \(parameter: ())
    """)
}

/// Whole rows of any table.
extension SQLText {
  package static func everything(in table: String, _ columns: [String]) -> SQLText {
    "SELECT \(names: columns) FROM \(name: table)"
  }
}
