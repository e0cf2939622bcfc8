/// Relationships whose pairs are moved.
extension SharedSQL {
  package static func relationshipStatements(_ change: SchemaChange) -> [SharedSQL] {
    switch change {
    case .sever(let table, let column, let beside, let target, let numbers, let rows):
      let assignments = ([column] + beside).map { name -> SharedSQL in "\(name: name) = NULL" }.joined(separator: ", ")
      let narrowing: SharedSQL = rows.entityNumbers.map { " AND \(.entity) IN (\(numbers: $0))" } ?? ""
      return [
        """
        UPDATE \(name: table) SET \(assignments) \
        WHERE \(name: column) IN (\(keys(of: target, numbers)))\(narrowing)
        """
      ]
    case .removePairs(let table, let column, let target, let numbers):
      return ["DELETE FROM \(name: table) WHERE \(name: column) IN (\(keys(of: target, numbers)))"]
    case .setAside(let source, let stage): return setAside(source, stage)
    case .join(let target, let stage): return join(target, stage)
    case .setKeys(let target, let stage): return setKeys(target, stage)
    case .takeEntityNumbers(let table, let key, let number, let target):
      return [
        """
        UPDATE \(name: table) SET \(name: number) = \
        (SELECT there.\(.entity) FROM \(name: target) AS there WHERE there.\(.key) = \(name: table).\(name: key)) \
        WHERE \(name: key) IS NOT NULL
        """
      ]
    case .assignPositions(let table, let owner, let member, let place):
      return [
        """
        UPDATE \(name: table) SET \(name: place) = placed.place FROM \
        (SELECT \(.rowID) AS row, 1024 * (1 + ROW_NUMBER() OVER (PARTITION BY \(name: owner) \
        ORDER BY \(name: place) IS NULL, \(name: place), \(name: member))) \
        AS place FROM \(name: table) WHERE \(name: owner) IS NOT NULL) AS placed \
        WHERE \(name: table).\(.rowID) = placed.row
        """
      ]
    case .forget(let stage): return ["DROP TABLE \(.temporary).\(name: stage.table)"]
    default: return []
    }
  }

  @inline(never)
  private static func keys(of table: String, _ numbers: [Int]?) -> SharedSQL {
    "SELECT \(.key) FROM \(name: table)\(condition(.entities(numbers)))"
  }

  static func keys(of end: PairEnd) -> SharedSQL { keys(of: end.table, end.entityNumbers) }

  private static func setAside(_ source: PairSource, _ stage: PairStage) -> [SharedSQL] {
    let place: SharedSQL = source.place.map { "\(name: $0)" } ?? "\(.nullKey)"
    let inversePlace: SharedSQL = source.inversePlace.map { "\(name: $0)" } ?? "\(.nullKey)"
    return [
      """
      CREATE TEMPORARY TABLE \(name: stage.table) AS SELECT \(name: source.owner) AS owner, \
      \(name: source.member) AS member, \(place) AS place, \(inversePlace) AS inversePlace \
      FROM \(.store).\(name: source.table) \
      WHERE \(name: source.owner) IS NOT NULL AND \(name: source.member) IS NOT NULL
      """
    ]
  }

  private static func join(_ target: PairTarget, _ stage: PairStage) -> [SharedSQL] {
    let columns = [target.owner, target.member] + [target.place, target.inversePlace].compactMap { $0 }
    func values(_ first: SharedSQL, _ second: SharedSQL) -> SharedSQL {
      let places: [SharedSQL] = [
        target.place.map { _ in "place" }, target.inversePlace.map { _ in "inversePlace" },
      ].compactMap { $0 }
      return ([first, second] + places).joined(separator: ", ")
    }
    func insert(_ values: SharedSQL) -> SharedSQL {
      """
      \(.insertNew) \(name: target.table) (\(names: columns)) SELECT \(values) FROM \(.temporary).\(name: stage.table) \
      WHERE owner IN (\(keys(of: target.owners))) AND member IN (\(keys(of: target.members)))
      """
    }
    return [insert(values("owner", "member"))] + (target.isReflexive ? [insert(values("member", "owner"))] : [])
  }

  private static func setKeys(_ target: KeyTarget, _ stage: PairStage) -> [SharedSQL] {
    let (row, key): (SharedSQL, SharedSQL) = target.row == .owner ? ("owner", "member") : ("member", "owner")
    let placeSource: SharedSQL = target.row == .owner ? "inversePlace" : "place"
    let place: SharedSQL = target.place.map { ", \(name: $0) = pairs.\(placeSource)" } ?? ""
    let (table, numbers) = (target.rows.table, target.rows.entityNumbers)
    let narrowing: SharedSQL = numbers.map { " AND \(name: table).\(.entity) IN (\(numbers: $0))" } ?? ""
    return [
      """
      UPDATE \(name: table) SET \(name: target.column) = pairs.\(key)\(place) \
      FROM \(.temporary).\(name: stage.table) AS pairs WHERE \(name: table).\(.key) = pairs.\(row) \
      AND pairs.\(key) IN (\(keys(of: target.targets)))\(narrowing)
      """
    ]
  }
}

extension PairStage {
  /// The temporary table that contains the pairs.
  fileprivate var table: String { "Z_PERSIST_PAIRS_\(number)" }
}

// MARK: Counting pairs

extension SharedSQL {
  /// The query for a count of pairs, with one row and one column; nil for other kinds of counts.
  static func pairCount(_ count: RowCount) -> SharedSQL? {
    switch count {
    case .related(let rows): return "SELECT COUNT(*) FROM \(pairs(rows, "p"))"
    case .crowded(let rows):
      let owner: SharedSQL = "p.\(name: rows.pairs.owner)"
      return """
        SELECT COUNT(*) FROM (SELECT 1 FROM \(pairs(rows, "p")) \
        GROUP BY \(owner) HAVING COUNT(DISTINCT p.\(name: rows.pairs.member)) > 1) AS crowded
        """
    case .conflicting(let first, let second):
      // Rows of different tables are different members, whatever their keys.
      let differ: SharedSQL = first.members.table == second.members.table ? " AND q.member <> p.member" : ""
      return """
        SELECT COUNT(DISTINCT p.owner) FROM (\(ownersAndMembers(first))) AS p \
        JOIN (\(ownersAndMembers(second))) AS q ON q.owner = p.owner\(differ)
        """
    case .unmatched(let rows, let others):
      let conditions = others.map { other -> SharedSQL in
        """
         AND NOT EXISTS (SELECT 1 FROM \(pairs(other, "q")) \
        AND q.\(name: other.pairs.owner) = p.\(name: rows.pairs.owner) \
        AND q.\(name: other.pairs.member) = p.\(name: rows.pairs.member))
        """
      }
      return "SELECT COUNT(*) FROM \(pairs(rows, "p"))\(conditions.joined(separator: ""))"
    case .unrelated(let table, let rows, let others, let parked):
      let start = condition(rows)
      let owners = others.map(owners) + [parked.map(parkedOwners)].compactMap { $0 }
      let conditions = owners.map { "\(.key) NOT IN (\($0))" as SharedSQL }.joined(separator: " AND ")
      return "SELECT COUNT(*) FROM \(name: table)\(start)\(rows == .all ? " WHERE " : " AND ")\(conditions)"
    default: return nil
    }
  }

  private static func ownersAndMembers(_ rows: PairRows) -> SharedSQL {
    """
    SELECT o.\(name: rows.pairs.owner) AS owner, o.\(name: rows.pairs.member) AS member FROM \(pairs(rows, "o"))
    """
  }

  private static func owners(_ rows: PairRows) -> SharedSQL {
    "SELECT o.\(name: rows.pairs.owner) FROM \(pairs(rows, "o"))"
  }

  /// A table of pairs with an alias, and the condition that both rows exist and are of the given entities.
  private static func pairs(_ rows: PairRows, _ alias: String) -> SharedSQL {
    let (owner, member): (SharedSQL, SharedSQL) = (
      "\(name: alias).\(name: rows.pairs.owner)", "\(name: alias).\(name: rows.pairs.member)"
    )
    return """
      \(name: rows.pairs.table) AS \(name: alias) \
      WHERE \(owner) IN (\(keys(of: rows.owners))) AND \(member) IN (\(keys(of: rows.members)))
      """
  }

  /// The owners of parked pairs that are restored. Those that also remained in the store are restored from there, or
  /// were removed since.
  static func parkedOwners(_ pairs: ParkedPairRows) -> SharedSQL {
    let members = pairs.members.map { "MEMBER IN (\(keys(of: $0)))" as SharedSQL }
    let objects: SharedSQL =
      "SELECT OBJECT FROM PERSIST_PARKED_VALUES WHERE SLOT IN (\(numbers: pairs.parkedMembers))"
    let parked: [SharedSQL] = pairs.parkedMembers.isEmpty ? [] : ["MEMBER IN (\(objects))"]
    return """
      SELECT OWNER FROM PERSIST_PARKED_PAIRS WHERE SLOT IN (\(numbers: pairs.slots)) \
      AND \(.ifNull)(STANDIN, 0) = 0 AND (\((members + parked + ["1 = 0"]).joined(separator: " OR ")))
      """
  }
}
