/// Deletions.
extension ServerCommitPass {
  /// - Parameter checkingVersions: Whether the statements fail if a row doesn't have its expected version.
  mutating func deleteRows(checkingVersions: Bool, _ transaction: ServerTransaction) throws {
    var rows: [Int: [(key: Int64, version: Int64)]] = [:]
    for row in writes.deletes {
      try rows[row.entity.number - 1, default: []].append((key(of: row.key, row.entity), row.version))
    }
    for (index, rows) in rows.sorted(by: { $0.key < $1.key }) {
      let plan = plans[index]
      let keys = rows.map(\.key)
      statements += history?.recordDeletions(of: keys, index, kinds) ?? []
      for (slot, place) in store.map[plan.entity].toMany.sorted(by: { $0.key < $1.key }) {
        release(keys, place, isAlone: plan.entity.properties[slot].relationship?.inverse == nil)
      }
      if checkingVersions {
        for (version, rows) in Dictionary(grouping: rows, by: \.version).sorted(by: { $0.key < $1.key }) {
          try delete(rows.map(\.key), of: version, from: plan.table, transaction)
        }
      } else {
        add("DELETE FROM \(table: plan.table) WHERE id = ANY(\(integers: keys))")
      }
    }
  }

  /// Deletes rows of one version, and fails as ``ServerFailure/isOvertaken`` if not all of them have it.
  ///
  /// The keys are in order, so that two saves that delete the same few rows don't wait for each other.
  private mutating func delete(
    _ keys: [Int64], of version: Int64, from table: String, _ transaction: ServerTransaction
  ) throws {
    let deletion: ServerText = """
      DELETE FROM \(table: table) WHERE id = ANY(\(integers: keys.sorted())) AND version = \(integer: version)
      """
    guard keys.count >= Self.countedDeletion else {
      let count = Int64(keys.count)
      return add("WITH d AS (\(deletion) RETURNING 1) SELECT 1 / (count(*) = \(integer: count))::int FROM d")
    }
    let results = try transaction.run(statements + [deletion], areReused: true)
    statements = []
    guard results.last?.changedRowCount == keys.count else { throw ServerPool.Overtaken() }
  }

  /// The number of deleted rows from which another round trip takes less time than letting the server count them: it
  /// would collect them first.
  private static let countedDeletion = 500

  /// Removes the relationships of rows to delete that are stored elsewhere.
  private mutating func release(_ keys: [Int64], _ place: TableMap.ToMany, isAlone: Bool) {
    switch place {
    case .join(let join):
      for column in join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn] {
        add("DELETE FROM \(table: join.table) WHERE \(name: column) = ANY(\(integers: keys))")
      }
    case .foreignKey(let key) where isAlone:
      let cleared = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
      let assignments = cleared.map { "\(name: $0) = NULL" as ServerText }.joined(separator: ", ")
      add("UPDATE \(table: key.table) SET \(assignments) WHERE \(name: key.column) = ANY(\(integers: keys))")
    // If there is an inverse, the members' own changes are part of the save.
    case .foreignKey: break
    }
  }
}
