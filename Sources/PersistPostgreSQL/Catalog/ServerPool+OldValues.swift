import Persist

/// The triggers that keep the old values of a history.
extension ServerPool {
  /// Makes sure that the server has exactly the triggers that keep old values. If others dropped or changed them, or an
  /// older version of Persist made them, they are created anew.
  func maintainOldValues(in map: TableMap) throws {
    guard try !read({ try $0.hasOldValueTriggers(in: map) }) else { return }
    try write { transaction in
      try transaction.run([ServerText.lock(address.schema)])
      // Another program may have done this first.
      guard try !transaction.session.hasOldValueTriggers(in: map) else { return }
      let tables = try OldValueTriggers.all(in: map).map(\.table) + transaction.session.tablesWithTriggers()
      try lock(tables, in: transaction.session)
      try transaction.session.makeOldValueTriggers(in: map)
    }
  }
}

extension ServerSession {
  fileprivate func hasOldValueTriggers(in map: TableMap) throws -> Bool {
    try hasExactly(OldValueTriggers.all(in: map), withPrefix: ServerText.name(OldValueTriggers.prefix))
  }

  /// Creates the triggers that keep old values in place of others. The caller holds the transaction.
  func makeOldValueTriggers(in map: TableMap) throws {
    try dropOldValueTriggers()
    try run(OldValueTriggers.all(in: map).flatMap(\.statements))
  }

  /// Deletes the triggers that keep old values, with their functions.
  func dropOldValueTriggers() throws { try dropTriggerFunctions(withPrefix: OldValueTriggers.prefix) }

  /// Deletes functions and the triggers that call them.
  func dropTriggerFunctions(withPrefix prefix: String) throws {
    let statements = try dropsOfTriggerFunctions(withPrefixes: [prefix])
    if !statements.isEmpty { try run(statements) }
  }

  /// The statements that delete functions and the triggers that call them.
  func dropsOfTriggerFunctions(withPrefixes prefixes: [String]) throws -> [ServerText] {
    let conditions = prefixes.map { "starts_with(p.proname, \(text: ServerText.name($0)))" as ServerText }
    return try all(
      """
      SELECT p.proname::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
      WHERE n.nspname = \(text: schema) AND (\(conditions.joined(separator: " OR ")))
      """
    ) { $0.text($1, 0) }.map { "DROP FUNCTION \(table: $0)() CASCADE" }
  }
}
