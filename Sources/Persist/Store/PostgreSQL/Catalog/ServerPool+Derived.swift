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
    let results = try run([Self.presentTriggers(of: schema), Self.presentFunctions(of: schema)])
    func rows(_ result: any ServerResult, _ columns: Range<Int>) -> Set<[String]> {
      Set((0..<result.rowCount).map { row in columns.map { result.text(row, $0) } })
    }
    let triggers = columns.triggers(in: layout)
    guard rows(results[0], 0..<6) == Set(triggers.map(Self.signature)) else { return false }
    let functions = ServerText.derivedFunctionBodies.map { [ServerText.name($0.key), $0.value] }
    return columns.isEmpty || rows(results[1], 0..<2).isSuperset(of: functions)
  }

  /// Name, table, kind, columns and function of each trigger. Functions are compared by their bodies.
  private static func presentTriggers(of schema: String) -> ServerText {
    let prefix = DerivedTrigger.prefix.foldedIdentifier
    return """
      SELECT t.tgname::text, c.relname::text, t.tgtype::text || t.tgenabled::text, \
      coalesce((SELECT string_agg(a.attname, ' ' ORDER BY a.attname) FROM pg_attribute AS a \
      WHERE a.attrelid = t.tgrelid AND a.attnum = ANY(t.tgattr)), ''), p.proname::text, p.prosrc \
      FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      JOIN pg_proc AS p ON p.oid = t.tgfoid AND p.pronamespace = n.oid \
      WHERE n.nspname = \(text: schema) AND NOT t.tgisinternal AND starts_with(t.tgname, \(text: prefix))
      """
  }

  private static func presentFunctions(of schema: String) -> ServerText {
    """
    SELECT p.proname::text, p.prosrc FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
    WHERE n.nspname = \(text: schema) AND starts_with(p.proname, 'persist')
    """
  }

  /// The row of ``presentTriggers(of:)`` for a trigger.
  private static func signature(of trigger: DerivedTrigger) -> [String] {
    // One row at a time, after an insert, a delete or an update; enabled as usual.
    let (kind, columns): (String, [String]) =
      switch trigger.event {
      case .insert: ("5O", [])
      case .delete: ("9O", [])
      case .update(let columns): ("17O", columns)
      }
    let name = ServerText.name(trigger.name)
    return [
      name, ServerText.name(trigger.table), kind,
      columns.map(ServerText.name).sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
        .joined(separator: " "),
      name, ServerText.body(of: trigger),
    ]
  }
}
