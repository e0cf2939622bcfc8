import Persist

/// The triggers that maintain derived attributes.
extension ServerPool {
  /// Makes sure that the server has exactly the triggers that maintain a model's derived attributes. If others dropped
  /// or changed them, or an older version of Persist made them, they are created anew, and the values computed.
  ///
  /// Only the owner of the tables can do that. Other programs use an older version's triggers until then. Triggers of a
  /// newer version remain, so that programs of both versions don't replace each other's while they run side by side.
  ///
  /// - Parameters:
  ///   - columns: The derived attributes of the store's model.
  ///   - schema: The store's schema.
  func maintain(
    _ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]], _ schema: StoreSchema
  ) throws {
    guard !columns.isEmpty || !schema.derivedTriggers.isEmpty else { return }
    let found = try read { try $0.derivedTriggers(for: columns, in: layout) }
    guard found != .current else { return }
    do {
      try write { transaction in
        try transaction.run([ServerText.lock(address.schema)])
        // Another program may have done this first.
        guard try transaction.session.derivedTriggers(for: columns, in: layout) != .current else { return }
        let tables = columns.serverTriggers(in: layout, partitioned: []).map(\.table)
        try lock(tables + transaction.session.tablesWithTriggers(), in: transaction.session)
        try transaction.session.makeDerived(columns, in: layout)
      }
    } catch let error as PersistenceError
      where found == .outdated && (error.isOfMissingRight || error.code == .storeReadOnly)
    {
      // Not an error: the existing triggers still compute the values, in the way of their version of Persist.
    }
  }
}

/// The state of the server's triggers for derived attributes, compared with those of a model.
private enum PresentDerivedTriggers {
  /// They are the same, or a newer version of Persist made them.
  case current
  /// They run at the same events, and differ in what an older version of Persist made of them.
  case outdated
  case different
}

extension StoreSchema {
  /// Persist's triggers for derived attributes.
  var derivedTriggers: [Trigger] { triggers.filter { $0.name.hasPrefix(DerivedTrigger.prefix.foldedIdentifier) } }
}

extension ServerSession {
  /// Creates the triggers that maintain derived attributes in place of others, and computes the values of existing
  /// rows. The caller holds the transaction.
  ///
  /// - Parameters:
  ///   - former: The present triggers; nil to read them.
  ///   - isComplete: Whether existing rows have the values already.
  func makeDerived(
    _ columns: [DerivedColumn], replacing former: [StoreSchema.Trigger]? = nil,
    in layout: [String: [TableMap.PlacedColumn]], completed isComplete: Bool = false
  ) throws {
    try drop(former ?? StoreSchema(self).derivedTriggers)
    guard !columns.isEmpty else { return }
    let triggers = columns.serverTriggers(in: layout, partitioned: try partitionedTables())
    try run(ServerText.derivedFunctions + triggers.flatMap(\.statements))
    guard !isComplete else { return }
    // A derived value may depend on others.
    for _ in 0...columns.count {
      let results = try run(columns.map { ServerText.fill($0) })
      if results.allSatisfy({ $0.changedRowCount == 0 }) { return }
    }
  }

  func dropDerived() throws { try drop(StoreSchema(self).derivedTriggers) }

  private func drop(_ triggers: [StoreSchema.Trigger]) throws {
    if !triggers.isEmpty { try run(triggers.flatMap { ServerText.dropDerived($0) }) }
  }

  /// Compares the triggers that the server has, with their functions, with those that Persist makes.
  fileprivate func derivedTriggers(
    for columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]]
  ) throws -> PresentDerivedTriggers {
    let present = try triggers(withPrefix: DerivedTrigger.prefix.foldedIdentifier)
    let versions = present.map { ServerText.derivedVersion(ofBody: $0.last ?? "") }
    if versions.contains(where: { $0 > ServerText.derivedVersion }) { return .current }
    let partitioned = columns.isEmpty ? [] : try partitionedTables()
    let wanted = Set(columns.serverTriggers(in: layout, partitioned: partitioned).map(\.signature))
    var functions: (present: Set<[String]>, wanted: Set<[String]>) = ([], [])
    if !columns.isEmpty {
      functions.present = Set(
        try all(Self.presentFunctions(of: schema)) { [$0.text($1, 0), $0.text($1, 1)] })
      functions.wanted = Set(ServerText.derivedFunctionBodies.map { [ServerText.name($0.key), $0.value] })
    }
    if present == wanted, functions.present.isSuperset(of: functions.wanted) { return .current }
    // Older versions of Persist made other triggers for the same events.
    func events(_ signatures: Set<[String]>) -> Set<[String]> { Set(signatures.map { Array($0.prefix(3)) }) }
    let isOfOlderVersion = versions.allSatisfy { $0 < ServerText.derivedVersion }
    func withoutBodies(_ signatures: Set<[String]>) -> Set<[String]> { Set(signatures.map { Array($0.dropLast()) }) }
    let isOutdated =
      (isOfOlderVersion ? events(present) == events(wanted) : withoutBodies(present) == withoutBodies(wanted))
      && withoutBodies(functions.present).isSuperset(of: withoutBodies(functions.wanted))
    return isOutdated ? .outdated : .different
  }

  /// The names of the tables that have partitions.
  func partitionedTables() throws -> Set<String> {
    try Set(
      all(
        """
        SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
        WHERE n.nspname = \(text: schema) AND c.relkind = 'p'
        """
      ) { $0.text($1, 0) })
  }

  private static func presentFunctions(of schema: String) -> ServerText {
    """
    SELECT p.proname::text, p.prosrc FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
    WHERE n.nspname = \(text: schema) AND starts_with(p.proname, 'persist')
    """
  }

  /// Whether the triggers whose names begin with a prefix are exactly these, with their functions.
  func hasExactly(_ wanted: [ServerTrigger], withPrefix prefix: String) throws -> Bool {
    try triggers(withPrefix: prefix) == Set(wanted.map(\.signature))
  }

  /// The signatures of the triggers whose names begin with a prefix.
  private func triggers(withPrefix prefix: String) throws -> Set<[String]> {
    try Set(
      all(ServerTrigger.present(withPrefix: prefix, in: schema)) { result, row in
        (0..<8).map { result.text(row, $0) }
      })
  }
}
