/// Deleting rows.
extension CommitPass {
  /// Rows that a statement should have deleted had been changed or deleted by others. Which ones can't be told once the
  /// other rows are gone.
  struct UnmatchedDeletes: Error {}

  /// Deletes the rows, and notes conflicts with those that others changed or deleted.
  ///
  /// - Parameter singly: Whether each row has a statement of its own, which is slower.
  /// - Throws: ``UnmatchedDeletes`` if others changed rows of a group; then they have to be deleted singly.
  mutating func deleteRows(singly: Bool) throws {
    var start = 0
    while start < writes.deletes.count {
      let row = writes.deletes[start]
      let plan = try plan(row.entity)
      let end = start + (singly ? 1 : groupSize(from: start, plan))
      let keys = try writes.deletes[start..<end].map { try key(of: $0.key, $0.entity) }
      if plan.fileNames != nil { for key in keys { try noteFiles(of: key, plan) { _ in true } } }
      // First, because the history keeps removed members with the entities of rows that exist.
      try release(keys, plan)
      let statement = try connection.statement(keys.count == 1 ? plan.delete : plan.deleteGroup)
      for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(truncatingIfNeeded: index + 1)) }
      statement.bind(row.version, at: Int32(truncatingIfNeeded: keys.count + 1))
      try statement.run()
      if connection.changes != keys.count {
        guard keys.count == 1 else { throw UnmatchedDeletes() }
        try noteConflict(plan, keys[0], expected: row.version)
      }
      start = end
    }
  }

  /// The number of rows to delete with one statement: as many as it takes if they have the same entity and version, or
  /// else one.
  private func groupSize(from start: Int, _ plan: WritePlan) -> Int {
    let rows = writes.deletes
    let end = start + WritePlan.deleteGroupSize
    guard end <= rows.count else { return 1 }
    let isGroup = rows[start..<end].allSatisfy { $0.entity === plan.entity && $0.version == rows[start].version }
    return isGroup ? WritePlan.deleteGroupSize : 1
  }

  /// Removes the relationships of rows to delete that are stored elsewhere.
  private func release(_ keys: [Int64], _ plan: WritePlan) throws {
    for release in plan.releases {
      for key in keys {
        let statement = try connection.statement(release)
        statement.bind(key, at: 1)
        try statement.run()
      }
    }
  }
}
