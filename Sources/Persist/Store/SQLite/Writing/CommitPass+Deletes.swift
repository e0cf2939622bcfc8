/// Deleting rows.
extension CommitPass {
  /// Rows that a statement should have deleted had been changed or deleted by others. They can't be identified once the
  /// other rows are gone.
  struct UnmatchedDeletes: Error {}

  /// Deletes the rows, and records conflicts with those that others changed or deleted.
  ///
  /// Conflicts are recorded in the order of the groups, whether or not the rows are deleted singly.
  ///
  /// - Parameter singly: Whether each row has a statement of its own, which is slower.
  /// - Throws: ``UnmatchedDeletes`` if others changed rows of a group; then they have to be deleted singly.
  mutating func deleteRows(singly: Bool) throws {
    let rows = Self.grouped(writes.deletes)
    var start = 0
    while start < rows.count {
      let row = rows[start]
      let plan = try plan(row.entity)
      let end = start + (singly ? 1 : Self.groupSize(in: rows, from: start))
      let keys = try rows[start..<end].map { try key(of: $0.key, $0.entity) }
      if plan.fileNames != nil { for key in keys { try recordFiles(of: key, plan) { _ in true } } }
      // Done first, while the rows exist: the history records removed members with the entities of their rows.
      try release(keys, plan)
      let statement = try connection.statement(keys.count == 1 ? plan.delete : plan.deleteGroup)
      for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(truncatingIfNeeded: index + 1)) }
      statement.bind(row.version, at: Int32(truncatingIfNeeded: keys.count + 1))
      let total = connection.totalChanges
      try statement.run()
      // Several rows of a table whose rows are being converted are deleted singly, because triggers count too.
      if keys.count == 1 ? connection.changes(since: total) == 0 : connection.changes != keys.count {
        guard keys.count == 1 else { throw UnmatchedDeletes() }
        try recordConflict(plan, keys[0], expected: row.version)
      }
      start = end
    }
  }

  /// The entity and version that the rows deleted by one statement have in common.
  private struct DeleteGroup: Hashable {
    let entity: ObjectIdentifier
    let version: Int64

    init(_ row: RowWrites.RowVersion) {
      entity = ObjectIdentifier(row.entity)
      version = row.version
    }
  }

  /// Returns the rows with those of the same entity and version next to each other, in the order in which they first
  /// occur. A cascade's rows alternate between entities.
  private static func grouped(_ rows: [RowWrites.RowVersion]) -> [RowWrites.RowVersion] {
    guard rows.count > WritePlan.deleteGroupSize else { return rows }
    var places: [DeleteGroup: Int] = Dictionary()
    // By place, the rows of a group, as runs of rows that are already next to each other.
    var groups: [[Range<Int>]] = []
    var start = 0
    while start < rows.count {
      let group = DeleteGroup(rows[start])
      var end = start + 1
      while end < rows.count, DeleteGroup(rows[end]) == group { end += 1 }
      if let place = places[group] {
        groups[place].append(start..<end)
      } else {
        places[group] = groups.count
        groups.append([start..<end])
      }
      start = end
    }
    guard groups.count > 1 else { return rows }
    var grouped: [RowWrites.RowVersion] = []
    grouped.reserveCapacity(rows.count)
    for run in groups.joined() { grouped += rows[run] }
    return grouped
  }

  /// The number of rows to delete with one statement: as many as it takes if they have the same entity and version, or
  /// else one.
  private static func groupSize(in rows: [RowWrites.RowVersion], from start: Int) -> Int {
    let end = start + WritePlan.deleteGroupSize
    guard end <= rows.count else { return 1 }
    let group = DeleteGroup(rows[start])
    return rows[start..<end].allSatisfy { DeleteGroup($0) == group } ? WritePlan.deleteGroupSize : 1
  }

  /// Removes the relationships of rows to delete that are stored elsewhere.
  private func release(_ keys: [Int64], _ plan: WritePlan) throws {
    for release in keys.count == 1 ? plan.releases : plan.groupReleases {
      let statement = try connection.statement(release)
      for (index, key) in keys.enumerated() { statement.bind(key, at: Int32(truncatingIfNeeded: index + 1)) }
      try statement.run()
    }
  }
}
