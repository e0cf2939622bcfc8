extension SQLiteConnection {
  /// Creates the triggers that maintain a model's derived attributes, and computes the values of existing rows;
  /// triggers of an older model are removed. The caller holds the transaction.
  ///
  /// Columns maintained by Core Data's triggers are left to these, except for changes that no trigger noticed.
  package func updateDerivedTriggers(
    _ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]], after changed: Set<String> = []
  ) throws {
    for name in try all(.derivedTriggers, { $0.text(0) }) { try apply(.dropTrigger(name)) }
    guard !columns.isEmpty else { return }
    let own = columns.notKeptByOthers(in: try StoreSchema(self))
    for trigger in own.triggers(in: layout) { try execute(.create(trigger)) }
    try fill(own + columns.filter { !own.contains($0) }.affected(by: changed))
  }

  /// Repeats until nothing changes, since a derived value may depend on others.
  private func fill(_ columns: [DerivedColumn]) throws {
    for _ in 0...columns.count {
      var isSettled = true
      for column in columns where try execute(.fill(column)) > 0 { isSettled = false }
      if isSettled { return }
    }
  }
}

extension [DerivedColumn] {
  /// Whether a store has exactly the triggers that Persist needs for these columns.
  ///
  /// - Parameter layout: Only computed if there are derived columns.
  func areKept(by schema: StoreSchema, layout: @autoclosure () -> [String: [TableMap.PlacedColumn]]) -> Bool {
    if isEmpty { return !schema.triggers.contains(where: \.isPersists) }
    let present = schema.triggers.filter(\.isPersists).map { [$0.name, $0.sql] }
    let wanted = notKeptByOthers(in: schema).triggers(in: layout()).map { [$0.name, SQLText.create($0).text] }
    return Set(present) == Set(wanted)
  }

  /// The columns that none of Core Data's triggers maintains.
  ///
  /// Other triggers that mention a column merely read it, as those of full-text indexes do.
  fileprivate func notKeptByOthers(in schema: StoreSchema) -> [DerivedColumn] {
    filter { column in !schema.triggers.contains { $0.mayMaintain(column.name, of: column.table) } }
  }

  /// The columns whose values depend on some tables, directly or through each other.
  ///
  /// - Parameter changed: The folded names of the tables.
  fileprivate func affected(by changed: Set<String>) -> [DerivedColumn] {
    var changed = changed
    var found: [DerivedColumn] = []
    while let next = first(where: { column in
      !found.contains(column) && column.value != .now && !changed.isDisjoint(with: column.inputTables)
    }) {
      found.append(next)
      changed.insert(next.table.foldedIdentifier)
    }
    return found
  }
}
