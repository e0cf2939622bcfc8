/// Parked pairs of relationships.
extension SharedSQL {
  package static func parkPairs(_ slot: ParkedSlot, _ rows: PairRows) -> SharedSQL {
    let pairs = rows.pairs
    let place: SharedSQL = pairs.place.map { "\(name: $0)" } ?? "NULL"
    let inversePlace: SharedSQL = pairs.inversePlace.map { "\(name: $0)" } ?? "NULL"
    return """
      \(.insertNew) PERSIST_PARKED_PAIRS (SLOT, OWNER, MEMBER, PLACE, INVERSEPLACE) \
      SELECT \(number: Int64(slot.number)), \(name: pairs.owner), \(name: pairs.member), \(place), \(inversePlace) \
      FROM \(name: pairs.table) WHERE \(name: pairs.owner) IN (\(keys(of: rows.owners))) \
      AND \(name: pairs.member) IN (\(keys(of: rows.members)))
      """
  }

  /// The condition that a parked pair is in one of several relationships.
  private static func exists(_ pairs: [PairSource]) -> SharedSQL {
    let found: [SharedSQL] = pairs.reduce(into: [PairSource]()) { if !$0.contains($1) { $0.append($1) } }.map(exists)
    return "(\(found.joined(separator: " OR ")))"
  }

  private static func exists(_ pairs: PairSource) -> SharedSQL {
    """
    EXISTS (SELECT 1 FROM \(name: pairs.table) AS t \
    WHERE t.\(name: pairs.owner) = PERSIST_PARKED_PAIRS.OWNER AND t.\(name: pairs.member) = PERSIST_PARKED_PAIRS.MEMBER)
    """
  }

  /// Deletes parked pairs that also remained in the store, and were removed from it since.
  ///
  /// - Parameter pairs: The relationships that contained them; not empty.
  package static func dropReplacedPairs(_ slot: ParkedSlot, _ pairs: [PairSource]) -> SharedSQL {
    """
    DELETE FROM PERSIST_PARKED_PAIRS WHERE SLOT = \(number: Int64(slot.number)) AND STANDIN = 1 AND NOT \(exists(pairs))
    """
  }

  /// - Parameter pairs: The relationships in which pairs may already be.
  package static func recordStandIns(_ slot: ParkedSlot, _ pairs: [PairSource]) -> SharedSQL {
    let value: SharedSQL = pairs.isEmpty ? "0" : "CASE WHEN \(exists(pairs)) THEN 1 ELSE 0 END"
    return "UPDATE PERSIST_PARKED_PAIRS SET STANDIN = \(value) WHERE SLOT = \(number: Int64(slot.number))"
  }

  /// Deletes parked pairs that also remained in the store.
  package static func dropKeptPairs(_ slot: ParkedSlot) -> SharedSQL {
    "DELETE FROM PERSIST_PARKED_PAIRS WHERE SLOT = \(number: Int64(slot.number)) AND STANDIN = 1"
  }

  /// The pairs whose ends both exist.
  private static func possible(_ slot: ParkedSlot, among owners: PairEnd, and members: PairEnd) -> SharedSQL {
    "SLOT = \(number: Int64(slot.number)) AND OWNER IN (\(keys(of: owners))) AND MEMBER IN (\(keys(of: members)))"
  }

  package static func restorePairs(_ slot: ParkedSlot, into target: PairTarget) -> SharedSQL {
    var columns = [target.owner, target.member]
    var values: SharedSQL = "OWNER, MEMBER"
    if let place = target.place {
      columns.append(place)
      values += ", PLACE"
    }
    if let place = target.inversePlace {
      columns.append(place)
      values += ", INVERSEPLACE"
    }
    return """
      \(.insertNew) \(name: target.table) (\(names: columns)) SELECT \(values) FROM PERSIST_PARKED_PAIRS \
      WHERE \(possible(slot, among: target.owners, and: target.members))
      """
  }

  /// Fills key columns that have no value.
  ///
  /// - Parameter taken: The column of the other row that leads back, if it has one: it must be empty or lead back.
  package static func restoreKeys(_ slot: ParkedSlot, into target: KeyTarget, taken: String?) -> SharedSQL {
    let isOwner = target.row == .owner
    // The table is named because, on a server, the other row may have columns of the same names.
    let (row, key, place): (SharedSQL, SharedSQL, SharedSQL) =
      isOwner
      ? ("PERSIST_PARKED_PAIRS.OWNER", "PERSIST_PARKED_PAIRS.MEMBER", "INVERSEPLACE")
      : ("PERSIST_PARKED_PAIRS.MEMBER", "PERSIST_PARKED_PAIRS.OWNER", "PLACE")
    let table = target.rows.table
    let (owners, members) = isOwner ? (target.rows, target.targets) : (target.targets, target.rows)
    var condition = possible(slot, among: owners, and: members)
    if let taken {
      condition += """
         AND NOT EXISTS (SELECT 1 FROM \(name: target.targets.table) AS o WHERE o.\(.key) = \(key) \
        AND o.\(name: taken) <> \(row))
        """
    }
    func first(_ value: SharedSQL) -> SharedSQL {
      "(SELECT \(value) FROM PERSIST_PARKED_PAIRS WHERE \(condition) AND \(row) = \(name: table).\(.key) LIMIT 1)"
    }
    let placed: SharedSQL = target.place.map { ", \(name: $0) = \(first(place))" } ?? ""
    return """
      UPDATE \(name: table) SET \(name: target.column) = \(first(key))\(placed) \
      WHERE \(name: target.column) IS NULL AND \(.key) IN (SELECT \(row) FROM PERSIST_PARKED_PAIRS WHERE \(condition))
      """
  }

  /// Gives pairs back the order that they had; others come after them.
  ///
  /// - Parameter owners: The owners of the pairs.
  package static func restoreOrder(
    _ slot: ParkedSlot, _ pairs: PairSource, of owners: PairEnd, place column: String, inverse: Bool
  ) -> SharedSQL {
    let (place, end, own): (SharedSQL, SharedSQL, String) =
      inverse ? ("INVERSEPLACE", "MEMBER", pairs.member) : ("PLACE", "OWNER", pairs.owner)
    let parked: SharedSQL = "PERSIST_PARKED_PAIRS AS p WHERE p.SLOT = \(number: Int64(slot.number))"
    let same: SharedSQL = """
      p.OWNER = \(name: pairs.table).\(name: pairs.owner) AND p.MEMBER = \(name: pairs.table).\(name: pairs.member)
      """
    return """
      UPDATE \(name: pairs.table) SET \(name: column) = \(.ifNull)((SELECT p.\(place) FROM \(parked) AND \(same)), \
      \(name: column) + \(.ifNull)((SELECT MAX(p.\(place)) FROM \(parked) \
      AND p.\(end) = \(name: pairs.table).\(name: own)), 0)) \
      WHERE \(name: pairs.owner) IN (\(keys(of: owners))) AND \(name: pairs.member) IS NOT NULL
      """
  }
}
