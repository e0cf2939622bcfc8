extension SQLiteConnection {
  /// Makes the triggers that keep a model's derived attributes, and gives the rows that exist their values; triggers of
  /// an older model go. The caller holds the transaction.
  ///
  /// Columns that triggers of another program keep are left to these.
  func keepDerivedColumns(_ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]]) throws {
    for name in try all(.derivedTriggers, { $0.text(0) }) { try apply(.dropTrigger(name)) }
    guard !columns.isEmpty else { return }
    let columns = columns.notKeptByOthers(in: try StoreSchema(self))
    for trigger in columns.triggers(in: layout) { try execute(.create(trigger)) }
    try fill(columns)
  }

  /// A value may come from another derived one, so that it takes as many rounds as these lead to each other.
  private func fill(_ columns: [DerivedColumn]) throws {
    for _ in 0...columns.count {
      var isSettled = true
      for column in columns where try execute(.fill(column)) > 0 { isSettled = false }
      if isSettled { return }
    }
  }
}

extension [DerivedColumn] {
  /// Whether a store has the triggers for these columns, and no others of Persist's.
  func areKept(by schema: StoreSchema, layout: [String: [TableMap.PlacedColumn]]) -> Bool {
    let present = schema.triggers.filter(\.isPersists).map { [$0.name, $0.sql] }
    let wanted = notKeptByOthers(in: schema).triggers(in: layout).map { [$0.name, SQLText.create($0).text] }
    return Set(present) == Set(wanted)
  }

  /// Those that no trigger of another program mentions.
  fileprivate func notKeptByOthers(in schema: StoreSchema) -> [DerivedColumn] {
    filter { column in !schema.triggers.contains { !$0.isPersists && $0.mentions(column.name) } }
  }
}

extension StoreSchema.Trigger {
  fileprivate var isPersists: Bool { name.hasPrefix(DerivedTrigger.prefix) }

  /// Whether the trigger is one of those by which derived attributes get their values, Core Data's own among them.
  var keepsDerivedValues: Bool { isPersists || name.hasPrefix("Z_DA_") }
}
