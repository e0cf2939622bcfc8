import Persist

/// Saves without locks that come first, which take one flight.
extension RowWrites {
  /// Whether the statements can check all versions themselves: rows are only inserted or only deleted, or one is
  /// updated, beside insertions at most.
  ///
  /// With more rows of both kinds, two saves could wait for each other's. To lock rows before they are deleted would
  /// write each of them twice.
  var needNoLocks: Bool {
    guard touches.isEmpty, checks.isEmpty else { return false }
    guard deletes.isEmpty else {
      return inserts.isEmpty && updates.isEmpty && links.isEmpty && orderings.isEmpty
    }
    guard let update = updates.first else { return true }
    guard updates.count == 1, links.isEmpty, orderings.isEmpty, case .permanent = update.key else { return false }
    return update.version != nil
  }
}

extension ServerCommitPass {
  /// Updates a row of one version, and fails as ``ServerFailure/isOvertaken`` if it doesn't have it.
  mutating func checkAndUpdateRow(_ row: RowWrites.Update) throws {
    let plan = try plan(row.entity)
    var columns = columns(plan.update(of: row.slots).columns, of: plan, count: 1)
    let key = try key(of: row.key, row.entity)
    try append(row.values, to: &columns, plan, row: key)
    for slot in row.slots where plan.orderedSlots.contains(slot) {
      if case .objectID(let owner)? = row.values[slot] {
        try recordMissingPlace(in: plan, slot: slot, of: owner, member: key)
      }
    }
    let shape = CheckedChange.Shape.update(entity: row.entity.number, slots: row.slots)
    let version = row.version ?? 0
    let parameters = columns.map(\.parameter) + [.integer(key), .integer(version)]
    addFirst(
      CheckedChange(shape, of: 1, parameters: parameters) {
        let assignments = columns.map { column -> ServerText in
          ", \(name: column.column.name) = (\(parameter: column.parameter))[1]\(column.cast)"
        }.joined(separator: "")
        return """
          UPDATE \(table: plan.table) SET \(.countingUp)\(assignments) \
          WHERE id = \(integer: key) AND version = \(integer: version)
          """
      })
  }
}
