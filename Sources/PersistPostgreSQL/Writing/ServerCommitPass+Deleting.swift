import Persist

/// Deletions.
extension ServerCommitPass {
  /// - Parameter checkingVersions: Whether the statements fail if a row doesn't have its expected version.
  mutating func deleteRows(checkingVersions: Bool, _ transaction: ServerTransaction) throws {
    for (index, groups) in try deletedRows() {
      let plan = plans[index]
      let keys = groups.count == 1 ? groups[0].keys : groups.flatMap(\.keys)
      statements += history?.recordDeletions(of: keys, index, kinds) ?? []
      for (slot, place) in store.map[plan.entity].toMany.sorted(by: { $0.key < $1.key }) {
        release(keys, place, isAlone: plan.entity.properties[slot].relationship?.inverse == nil)
      }
      if checkingVersions {
        for group in groups { try delete(group.keys, of: group.version, from: plan.table, transaction) }
      } else {
        add("DELETE FROM \(table: plan.table) WHERE id = ANY(\(integers: keys))")
      }
    }
  }

  /// Rows to delete that have the same version.
  private struct DeletedRows {
    let version: Int64
    var keys: [Int64]
  }

  /// The rows by the index of their entity and by version, in order.
  ///
  /// Most rows are of the same entity and version as the ones before them, so that they need no search.
  private func deletedRows() throws -> [(index: Int, groups: [DeletedRows])] {
    var found: [Int: [DeletedRows]] = [:]
    var last = (index: -1, rows: DeletedRows(version: 0, keys: []))
    func add(_ rows: DeletedRows, _ index: Int) {
      guard !rows.keys.isEmpty else { return }
      if let place = found[index]?.firstIndex(where: { $0.version == rows.version }) {
        found[index]?[place].keys += rows.keys
      } else {
        found[index, default: []].append(rows)
      }
    }
    for row in writes.deletes {
      let (index, key) = (row.entity.index, try key(of: row.key, row.entity))
      if index == last.index, row.version == last.rows.version {
        last.rows.keys.append(key)
      } else {
        add(last.rows, last.index)
        last = (index, DeletedRows(version: row.version, keys: [key]))
      }
    }
    add(last.rows, last.index)
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value.sorted { $0.version < $1.version }) }
  }

  /// Deletes rows of one version, and fails as ``ServerFailure/isOvertaken`` if not all of them have it.
  ///
  /// The keys are in order, so that two saves that delete the same few rows don't wait for each other.
  private mutating func delete(
    _ keys: [Int64], of version: Int64, from table: String, _ transaction: ServerTransaction
  ) throws {
    let keys = keys.sorted()
    let deletion: ServerText = """
      DELETE FROM \(table: table) WHERE id = ANY(\(integers: keys)) AND version = \(integer: version)
      """
    guard keys.count >= Self.countedDeletion else {
      let change = CheckedChange(
        .deletion(table: table), of: Int64(keys.count), parameters: [.integers(keys), .integer(version)]
      ) { deletion }
      // Statements added before may refer to the rows, and must run first.
      if statements.isEmpty { addFirst(change) } else { add(change.statement(store.pool.texts)) }
      return
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
