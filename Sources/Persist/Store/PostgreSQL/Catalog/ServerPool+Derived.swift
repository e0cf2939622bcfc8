/// The triggers that maintain derived attributes.
extension ServerPool {
  /// Makes sure that the server has exactly the triggers that maintain a model's derived attributes. If others dropped
  /// or changed them, or an older version of Persist made them, they are created anew, and the values computed.
  ///
  /// - Parameters:
  ///   - columns: The derived attributes of the store's model.
  ///   - schema: The store's schema.
  func maintain(
    _ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]], _ schema: StoreSchema
  ) throws {
    guard !columns.isEmpty || schema.triggers.contains(where: \.isDerived) else { return }
    guard try !read({ try $0.hasDerived(columns, in: layout) }) else { return }
    try write { transaction in
      try transaction.run([ServerText.lock(address.schema)])
      // Another program may have been first.
      guard try !transaction.session.hasDerived(columns, in: layout) else { return }
      try transaction.session.makeDerived(columns, in: layout)
    }
  }
}

extension StoreSchema.Trigger {
  /// Whether it is one of Persist's for a derived attribute.
  fileprivate var isDerived: Bool { name.hasPrefix(DerivedTrigger.prefix.foldedIdentifier) }
}

extension ServerSession {
  /// Creates the triggers that maintain derived attributes in place of others, and computes the values of existing
  /// rows. The caller holds the transaction.
  func makeDerived(_ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]]) throws {
    try dropDerived()
    guard !columns.isEmpty else { return }
    try run(ServerText.derivedFunctions + columns.triggers(in: layout).flatMap { ServerText.make($0) })
    // A derived value may depend on others.
    for _ in 0...columns.count {
      let results = try run(columns.map { ServerText.fill($0) })
      if results.allSatisfy({ $0.changedRowCount == 0 }) { return }
    }
  }

  func dropDerived() throws {
    let former = try StoreSchema(self).triggers.filter(\.isDerived)
    if !former.isEmpty { try run(former.flatMap { ServerText.dropDerived($0) }) }
  }

  /// Whether the server has exactly the triggers, with their functions, that Persist makes for derived attributes.
  fileprivate func hasDerived(_ columns: [DerivedColumn], in layout: [String: [TableMap.PlacedColumn]]) throws -> Bool {
    let triggers = columns.triggers(in: layout).map { ServerTrigger($0) }
    guard try hasExactly(triggers, withPrefix: DerivedTrigger.prefix.foldedIdentifier) else { return false }
    let functions = ServerText.derivedFunctionBodies.map { [ServerText.name($0.key), $0.value] }
    return try columns.isEmpty
      || Set(all(Self.presentFunctions(of: schema)) { [$0.text($1, 0), $0.text($1, 1)] }).isSuperset(of: functions)
  }

  private static func presentFunctions(of schema: String) -> ServerText {
    """
    SELECT p.proname::text, p.prosrc FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
    WHERE n.nspname = \(text: schema) AND starts_with(p.proname, 'persist')
    """
  }

  /// Whether the triggers whose names begin with a prefix are exactly these, with their functions.
  func hasExactly(_ triggers: [ServerTrigger], withPrefix prefix: String) throws -> Bool {
    let present = try all(ServerTrigger.present(withPrefix: prefix, in: schema)) { result, row in
      (0..<7).map { result.text(row, $0) }
    }
    return Set(present) == Set(triggers.map(\.signature))
  }
}
