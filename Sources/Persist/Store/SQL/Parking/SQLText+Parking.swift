/// Values that are parked in a store.
extension SQLText {
  static let createParking =
    [createParkedSlots, createParkedModels, createParkedValues, createParkedPairs] + createParkedStates

  package static let createParkedSlots: SQLText = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED (SLOT INTEGER PRIMARY KEY, KIND VARCHAR, ENTITY VARCHAR, \
    PROPERTY VARCHAR, ELEMENTS VARCHAR, MODEL VARCHAR, VERSION VARCHAR)
    """
  package static let createParkedModels: SQLText =
    "CREATE TABLE IF NOT EXISTS PERSIST_PARKED_MODELS (DIGEST VARCHAR PRIMARY KEY, CONTENT BLOB)"
  /// Only for files, whose columns can contain values of any type.
  private static let createParkedValues: SQLText = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED_VALUES (SLOT INTEGER, OBJECT INTEGER, VALUE, STANDIN, \
    PRIMARY KEY (SLOT, OBJECT))
    """
  package static let createParkedPairs: SQLText = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED_PAIRS (SLOT INTEGER, OWNER INTEGER, MEMBER INTEGER, PLACE INTEGER, \
    INVERSEPLACE INTEGER, STANDIN INTEGER, PRIMARY KEY (SLOT, OWNER, MEMBER))
    """

  package static func dropParking(_ table: String) -> SQLText { "DROP TABLE IF EXISTS \(name: table)" }

  /// - Parameter hasStates: Whether the store has the table of states, which earlier versions of Persist didn't create.
  package static func parkedSlots(hasStates: Bool) -> SQLText {
    let slots: SQLText = "SELECT p.SLOT, p.KIND, p.ENTITY, p.PROPERTY, p.ELEMENTS, p.MODEL, p.VERSION"
    return hasStates
      ? """
      \(slots), s.TABLENAME, s.COLUMNNAME, s.ENTITYNUMBER FROM PERSIST_PARKED AS p \
      LEFT JOIN PERSIST_PARKED_STATES AS s ON s.SLOT = p.SLOT ORDER BY p.SLOT
      """ : "\(slots), NULL, NULL, NULL FROM PERSIST_PARKED AS p ORDER BY p.SLOT"
  }

  package static func addParkedSlot(_ slot: ParkedSlot) -> SQLText {
    """
    INSERT INTO PERSIST_PARKED (SLOT, KIND, ENTITY, PROPERTY, ELEMENTS, MODEL, VERSION) \
    VALUES (\(number: Int64(slot.number)), \(value: .text(slot.kind.rawValue)), \(value: .text(slot.entity)), \
    \(value: .text(slot.property)), \(value: .text(slot.elements)), \(value: .text(slot.model)), \
    \(value: .text(slot.version)))
    """
  }

  package static func parkedModel(_ digest: String) -> SQLText {
    "SELECT CONTENT FROM PERSIST_PARKED_MODELS WHERE DIGEST = \(value: .text(digest))"
  }

  package static func addParkedModel(_ digest: String, _ content: SQLValue) -> SQLText {
    """
    INSERT OR IGNORE INTO PERSIST_PARKED_MODELS (DIGEST, CONTENT) VALUES (\(value: .text(digest)), \(value: content))
    """
  }

  package static let removeUnusedParkedModels: SQLText =
    "DELETE FROM PERSIST_PARKED_MODELS WHERE DIGEST NOT IN (SELECT MODEL FROM PERSIST_PARKED)"

  /// The number of values or pairs of a slot.
  package static func countParked(_ slot: ParkedSlot) -> SQLText {
    slot.kind == .relationship
      ? "SELECT COUNT(*) FROM PERSIST_PARKED_PAIRS WHERE SLOT = \(number: Int64(slot.number))"
      : countRestored(slot, onlyPresent: false)
  }

  static func contents(_ slot: ParkedSlot) -> SQLText {
    slot.kind == .relationship ? "PERSIST_PARKED_PAIRS" : "PERSIST_PARKED_VALUES"
  }

  package static func removeParkedSlot(_ slot: ParkedSlot) -> [SQLText] {
    [
      "DELETE FROM \(contents(slot)) WHERE SLOT = \(number: Int64(slot.number))",
      "DELETE FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number))",
      "DELETE FROM PERSIST_PARKED WHERE SLOT = \(number: Int64(slot.number))",
    ]
  }

  private static func rows(_ numbers: [Int]) -> SQLText { "Z_ENT IN (\(numbers: numbers))" }
}

// MARK: Values of attributes

extension SQLText {
  /// The values of a column that are parked.
  package enum ParkedRows: Sendable, Hashable { case all, present, missing }

  static func parkValues(
    _ slot: ParkedSlot, table: String, column: String, _ numbers: [Int], _ which: ParkedRows
  ) -> SQLText {
    let condition: SQLText =
      switch which {
      case .all: ""
      case .present: " AND \(name: column) IS NOT NULL"
      case .missing: " AND \(name: column) IS NULL"
      }
    return """
      INSERT INTO PERSIST_PARKED_VALUES (SLOT, OBJECT, VALUE) \
      SELECT \(number: Int64(slot.number)), Z_PK, \(name: column) FROM \(name: table) WHERE \(rows(numbers))\(condition)
      """
  }

  /// Deletes parked values whose stand-ins were changed since.
  static func dropReplacedValues(_ slot: ParkedSlot, table: String, column: String) -> SQLText {
    """
    DELETE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) AND EXISTS \
    (SELECT 1 FROM \(name: table) AS t WHERE t.Z_PK = PERSIST_PARKED_VALUES.OBJECT \
    AND t.\(name: column) IS NOT PERSIST_PARKED_VALUES.STANDIN)
    """
  }

  static func recordStandIns(_ slot: ParkedSlot, table: String, column: String) -> SQLText {
    """
    UPDATE PERSIST_PARKED_VALUES SET STANDIN = (SELECT t.\(name: column) FROM \(name: table) AS t \
    WHERE t.Z_PK = PERSIST_PARKED_VALUES.OBJECT) WHERE SLOT = \(number: Int64(slot.number))
    """
  }

  static func restoreValues(
    _ slot: ParkedSlot, table: String, column: String, _ numbers: [Int], mark: MarkChange, onlyPresent: Bool
  ) -> SQLText {
    let value: SQLText =
      switch mark {
      case .same: "VALUE"
      case .added: "CASE WHEN VALUE IS NULL THEN NULL ELSE CAST(x'01' || VALUE AS BLOB) END"
      case .removed: "SUBSTR(VALUE, 2)"
      }
    let own: SQLText = "SLOT = \(number: Int64(slot.number))"
    return """
      UPDATE \(name: table) SET \(name: column) = \
      (SELECT \(value) FROM PERSIST_PARKED_VALUES WHERE \(own) AND OBJECT = \(name: table).Z_PK) \
      WHERE \(rows(numbers)) AND Z_PK IN \
      (SELECT OBJECT FROM PERSIST_PARKED_VALUES WHERE \(own)\(onlyPresent ? " AND VALUE IS NOT NULL" : ""))
      """
  }

  /// The objects whose parked value is the name of a file: key and value.
  package static func parkedFiles(_ slot: ParkedSlot) -> SQLText {
    """
    SELECT OBJECT, VALUE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) \
    AND LENGTH(VALUE) = 38 AND SUBSTR(VALUE, 1, 1) = x'02'
    """
  }

  package static func setParkedValue(_ slot: ParkedSlot, of object: Int64, _ value: SQLValue) -> SQLText {
    """
    UPDATE PERSIST_PARKED_VALUES SET VALUE = \(value: value) \
    WHERE SLOT = \(number: Int64(slot.number)) AND OBJECT = \(number: object)
    """
  }
}

// MARK: Objects

extension SQLText {
  static func parkObjects(_ slot: ParkedSlot, table: String, _ numbers: [Int]) -> SQLText {
    parkValues(slot, table: table, column: "Z_OPT", numbers, .all)
  }

  /// - Parameter fills: The values of columns that the parked objects don't have.
  static func restoreObjects(
    _ slot: ParkedSlot, table: String, number: Int, fills: [(column: String, value: SQLValue)]
  ) -> SQLText {
    let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + fills.map(\.column)
    let values = fills.map { fill -> SQLText in ", \(value: fill.value)" }.joined(separator: "")
    return """
      INSERT INTO \(name: table) (\(names: columns)) SELECT OBJECT, \(number: Int64(number)), VALUE\(values) \
      FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) \
      AND OBJECT NOT IN (SELECT Z_PK FROM \(name: table))
      """
  }

  /// The number of parked objects whose key another row has.
  package static func countParkedKeys(_ slot: ParkedSlot, in table: String) -> SQLText {
    """
    SELECT COUNT(*) FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) \
    AND OBJECT IN (SELECT Z_PK FROM \(name: table))
    """
  }
}

// MARK: Pairs of relationships

extension SQLText {
  package static func parkPairs(_ slot: ParkedSlot, _ rows: PairRows) -> SQLText {
    let pairs = rows.pairs
    let place: SQLText = pairs.place.map { "\(name: $0)" } ?? "NULL"
    let inversePlace: SQLText = pairs.inversePlace.map { "\(name: $0)" } ?? "NULL"
    return """
      INSERT OR IGNORE INTO PERSIST_PARKED_PAIRS (SLOT, OWNER, MEMBER, PLACE, INVERSEPLACE) \
      SELECT \(number: Int64(slot.number)), \(name: pairs.owner), \(name: pairs.member), \(place), \(inversePlace) \
      FROM \(name: pairs.table) WHERE \(name: pairs.owner) IN (\(keys(of: rows.owners))) \
      AND \(name: pairs.member) IN (\(keys(of: rows.members)))
      """
  }

  /// The condition that a parked pair is in one of several relationships.
  private static func exists(_ pairs: [PairSource]) -> SQLText {
    let found: [SQLText] = pairs.reduce(into: [PairSource]()) { if !$0.contains($1) { $0.append($1) } }.map(exists)
    return "(\(found.joined(separator: " OR ")))"
  }

  private static func exists(_ pairs: PairSource) -> SQLText {
    """
    EXISTS (SELECT 1 FROM \(name: pairs.table) AS t \
    WHERE t.\(name: pairs.owner) = PERSIST_PARKED_PAIRS.OWNER AND t.\(name: pairs.member) = PERSIST_PARKED_PAIRS.MEMBER)
    """
  }

  /// Deletes parked pairs that also remained in the store, and were removed from it since.
  ///
  /// - Parameter pairs: The relationships that contained them; not empty.
  package static func dropReplacedPairs(_ slot: ParkedSlot, _ pairs: [PairSource]) -> SQLText {
    """
    DELETE FROM PERSIST_PARKED_PAIRS WHERE SLOT = \(number: Int64(slot.number)) AND STANDIN = 1 AND NOT \(exists(pairs))
    """
  }

  /// - Parameter pairs: The relationships in which pairs may already be.
  package static func recordStandIns(_ slot: ParkedSlot, _ pairs: [PairSource]) -> SQLText {
    let value: SQLText = pairs.isEmpty ? "0" : "CASE WHEN \(exists(pairs)) THEN 1 ELSE 0 END"
    return "UPDATE PERSIST_PARKED_PAIRS SET STANDIN = \(value) WHERE SLOT = \(number: Int64(slot.number))"
  }

  /// Deletes parked pairs that also remained in the store.
  package static func dropKeptPairs(_ slot: ParkedSlot) -> SQLText {
    "DELETE FROM PERSIST_PARKED_PAIRS WHERE SLOT = \(number: Int64(slot.number)) AND STANDIN = 1"
  }

  /// The pairs whose ends both exist.
  private static func possible(_ slot: ParkedSlot, _ owners: PairEnd, _ members: PairEnd) -> SQLText {
    "SLOT = \(number: Int64(slot.number)) AND OWNER IN (\(keys(of: owners))) AND MEMBER IN (\(keys(of: members)))"
  }

  package static func restorePairs(_ slot: ParkedSlot, into target: PairTarget) -> SQLText {
    var columns = [target.owner, target.member]
    var values: SQLText = "OWNER, MEMBER"
    if let place = target.place {
      columns.append(place)
      values += ", PLACE"
    }
    if let place = target.inversePlace {
      columns.append(place)
      values += ", INVERSEPLACE"
    }
    return """
      INSERT OR IGNORE INTO \(name: target.table) (\(names: columns)) SELECT \(values) FROM PERSIST_PARKED_PAIRS \
      WHERE \(possible(slot, target.owners, target.members))
      """
  }

  /// Fills key columns that have no value.
  ///
  /// - Parameter taken: The column of the other row that leads back, if it has one: it must be empty or lead back.
  package static func restoreKeys(_ slot: ParkedSlot, into target: KeyTarget, taken: String?) -> SQLText {
    let isOwner = target.row == .owner
    // With their table: on a server, the other row may have columns of the same names.
    let (row, key, place): (SQLText, SQLText, SQLText) =
      isOwner
      ? ("PERSIST_PARKED_PAIRS.OWNER", "PERSIST_PARKED_PAIRS.MEMBER", "INVERSEPLACE")
      : ("PERSIST_PARKED_PAIRS.MEMBER", "PERSIST_PARKED_PAIRS.OWNER", "PLACE")
    let table = target.rows.table
    let (owners, members) = isOwner ? (target.rows, target.targets) : (target.targets, target.rows)
    var condition = possible(slot, owners, members)
    if let taken {
      condition += """
         AND NOT EXISTS (SELECT 1 FROM \(name: target.targets.table) AS o WHERE o.Z_PK = \(key) \
        AND o.\(name: taken) <> \(row))
        """
    }
    func first(_ value: SQLText) -> SQLText {
      "(SELECT \(value) FROM PERSIST_PARKED_PAIRS WHERE \(condition) AND \(row) = \(name: table).Z_PK LIMIT 1)"
    }
    let placed: SQLText = target.place.map { ", \(name: $0) = \(first(place))" } ?? ""
    return """
      UPDATE \(name: table) SET \(name: target.column) = \(first(key))\(placed) \
      WHERE \(name: target.column) IS NULL AND Z_PK IN (SELECT \(row) FROM PERSIST_PARKED_PAIRS WHERE \(condition))
      """
  }

  /// Gives pairs back the order that they had; others come after them.
  ///
  /// - Parameter owners: The owners of the pairs.
  package static func restoreOrder(
    _ slot: ParkedSlot, _ pairs: PairSource, of owners: PairEnd, place column: String, inverse: Bool
  ) -> SQLText {
    let (place, end, own): (SQLText, SQLText, String) =
      inverse ? ("INVERSEPLACE", "MEMBER", pairs.member) : ("PLACE", "OWNER", pairs.owner)
    let parked: SQLText = "PERSIST_PARKED_PAIRS AS p WHERE p.SLOT = \(number: Int64(slot.number))"
    let same: SQLText = """
      p.OWNER = \(name: pairs.table).\(name: pairs.owner) AND p.MEMBER = \(name: pairs.table).\(name: pairs.member)
      """
    return """
      UPDATE \(name: pairs.table) SET \(name: column) = IFNULL((SELECT p.\(place) FROM \(parked) AND \(same)), \
      \(name: column) + IFNULL((SELECT MAX(p.\(place)) FROM \(parked) \
      AND p.\(end) = \(name: pairs.table).\(name: own)), 0)) \
      WHERE \(name: pairs.owner) IN (\(keys(of: owners))) AND \(name: pairs.member) IS NOT NULL
      """
  }
}
