import Persist

/// The objects of a store in its schema, apart from those that others put there.
///
/// Others' objects remain when the store is deleted or when a copy takes its place.
struct ServerStoreObjects {
  let session: ServerSession
  /// The names of the store's tables on the server, in lower case.
  let tables: [String]
  private let sequences: [String]
  private let functions: [String]
  private let types: [String]
  /// The names of others' tables, views and sequences.
  let others: [String]
  /// The store's layout.
  let map: TableMap
  /// Columns of the store's tables that others added.
  private let addedColumns: [String]
  /// The record of an online migration; nil if the store serves one model.
  private let online: OnlineRecord?

  /// - Throws: ``PersistenceError/Code/notAStore`` for a schema without a store, and the errors of identifying it.
  init(_ session: ServerSession) throws {
    self.session = session
    let catalog = try StoreCatalog(session)
    map = try session.identify(among: nil, known: catalog).tableMap
    addedColumns = Self.addedColumns(in: catalog.schema, map)
    online = try catalog.isExpanded ? OnlineRecord(session) : nil
    let own = try Self.ownTables(of: map, hasHistory: HistoryLayout(catalog.schema) != nil)
      + (online?.secondTables(catalog, session) ?? [])
    let keys = Set(own.map { ServerText.name(ServerText.keySequence(of: $0)) })
    let names = Set(own.map(ServerText.name))
    var (tables, sequences, others): ([String], [String], [String]) = ([], [], [])
    // A sequence that belongs to a column is part of its table.
    let relations = try session.all(
      """
      SELECT c.relname::text, c.relkind::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE n.nspname = \(text: session.schema) AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND NOT EXISTS \
      (SELECT 1 FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid \
      AND d.deptype IN ('a', 'i')) ORDER BY c.relname
      """
    ) { ($0.text($1, 0), $0.text($1, 1)) }
    for (name, kind) in relations {
      switch kind {
      case "r" where names.contains(name) || name.hasPrefix(Self.prefix): tables.append(name)
      // A table that was partitioned by hand.
      case "p" where names.contains(name): tables.append(name)
      case "S" where keys.contains(name): sequences.append(name)
      default: others.append(name)
      }
    }
    (self.tables, self.sequences, self.others) = (tables, sequences, others)
    functions = try session.all(
      """
      SELECT DISTINCT p.proname::text FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace \
      WHERE n.nspname = \(text: session.schema) ORDER BY 1
      """
    ) { $0.text($1, 0) }.filter(Self.isOwnFunction)
    types = [ServerText.name(ServerText.dateType)]
  }

  private static func ownTables(of map: TableMap, hasHistory: Bool) -> [String] {
    let history = [
      HistoryLayout.transactionTable, HistoryLayout.changeTable, HistoryLayout.textTable,
    ]
    return map.tables.map(\.table) + map.joinTables.map(\.name) + ["Z_METADATA", "Z_PRIMARYKEY"]
      + (hasHistory ? history : [])
  }

  /// The prefix of tables that belong to Persist in every store.
  private static let prefix = "persist_"

  /// The names of all functions of a store, apart from those of triggers.
  private static let functionNames = Set(
    (ServerText.derivedFunctionBodies.keys + [ServerMark.function]).map(ServerText.name))

  /// The beginnings of the names of triggers and their functions.
  private static let triggerPrefixes = [
    DerivedTrigger.prefix, OldValueTriggers.prefix, ParkedSlot.trigger(of: ""), OnlineTriggers.prefix,
  ].map(ServerText.name)

  private static func isOwnFunction(_ name: String) -> Bool {
    functionNames.contains(name) || triggerPrefixes.contains { name.hasPrefix($0) }
  }

  /// The columns of the model's tables that are neither the model's nor left over by a migration.
  private static func addedColumns(in schema: StoreSchema, _ map: TableMap) -> [String] {
    var known = map.layout.mapValues { Set($0.map(\.name) + ["Z_PK", "Z_ENT", "Z_OPT"]) }
    for join in map.joinTables {
      let columns = [join.first, join.second].flatMap { [$0.column, $0.orderColumn] }
      known[join.name] = Set(columns.compactMap { $0 })
    }
    return known.sorted { $0.key < $1.key }.flatMap { name, columns -> [String] in
      let present = schema.table(named: name)?.columns.map(\.name) ?? []
      return present.filter { !columns.contains($0) && !LeftOverColumn.isOne($0) && !ParkedColumn.isOne($0) }
        .map { "\($0) of \(name)" }
    }
  }

  // MARK: Statements

  /// Deletes the store. The server refuses if other objects depend on its tables.
  var deletion: [ServerText] {
    ["DROP TABLE \(tables.map { "\(table: $0)" }.joined(separator: ", "))"]
      + sequences.map { "DROP SEQUENCE \(table: $0)" } + functions.map { "DROP FUNCTION \(table: $0)" }
      + types.map { "DROP DOMAIN IF EXISTS \(table: $0)" }
  }

  /// Moves the store to another schema, in which it has the same names.
  func move(to schema: String) -> [ServerText] {
    tables.map { "ALTER TABLE \(table: $0) SET SCHEMA \(schemaNamed: schema)" }
      + sequences.map { "ALTER SEQUENCE \(table: $0) SET SCHEMA \(schemaNamed: schema)" }
      + functions.map { "ALTER FUNCTION \(table: $0) SET SCHEMA \(schemaNamed: schema)" }
      + types.map { "ALTER DOMAIN \(table: $0) SET SCHEMA \(schemaNamed: schema)" }
  }

  // MARK: Others' objects

  /// Objects that would be lost with the store's tables: views and foreign keys that depend on them, columns that the
  /// model doesn't have, and policies.
  func dependents() throws -> [String] {
    let own = ownTablesCondition
    let found = try session.all(
      """
      WITH own AS (\(own)) \
      SELECT DISTINCT 'view ' || v.relname FROM pg_depend AS d JOIN pg_rewrite AS r ON r.oid = d.objid \
      JOIN pg_class AS v ON v.oid = r.ev_class WHERE d.classid = 'pg_rewrite'::regclass \
      AND d.refclassid = 'pg_class'::regclass AND d.refobjid IN (SELECT oid FROM own) AND v.oid <> d.refobjid \
      UNION SELECT 'foreign key ' || c.conname FROM pg_constraint AS c WHERE c.contype = 'f' \
      AND (c.confrelid IN (SELECT oid FROM own) OR c.conrelid IN (SELECT oid FROM own)) \
      AND NOT starts_with(c.conname, \(text: ServerText.foreignKeyPrefix)) \
      UNION SELECT 'policy ' || p.polname FROM pg_policy AS p WHERE p.polrelid IN (SELECT oid FROM own) ORDER BY 1
      """
    ) { $0.text($1, 0) }
    return found + addedColumns.map { "column \($0)" }
  }

  /// Selects the OIDs of the store's tables.
  var ownTablesCondition: ServerText {
    var array = ArrayParameter(.texts, of: .text, count: tables.count)
    for name in tables { array.append(name) }
    return """
      SELECT c.oid FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE n.nspname = \(text: session.schema) AND c.relkind = 'r' AND c.relname = ANY(\(parameter: array.parameter))
      """
  }

  /// Statements that give the tables of a copy what others added to the store's: rights, indexes, triggers, and the
  /// default values and constraints of columns that the copy has too.
  func additions(for copy: ServerStoreObjects) throws -> [ServerText] {
    let own = ownTablesCondition
    let copied = Set(copy.tables)
    let rights = try session.all(
      """
      SELECT format('GRANT %s ON %s %I.%I TO %s%s', a.privilege_type, \
      CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, n.nspname, c.relname, \
      CASE WHEN a.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END, \
      CASE WHEN a.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END), c.relname::text \
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace, aclexplode(c.relacl) AS a \
      WHERE n.nspname = \(text: session.schema) AND c.relkind IN ('r', 'S') AND a.grantee <> c.relowner
      """
    ) { (sql: $0.text($1, 0), table: $0.text($1, 1)) }
    let indexNames = try copy.indexNames().union(map.indexDefinitions.map { ServerText.name($0.name) })
    let indexes = try session.all(
      """
      SELECT pg_get_indexdef(i.indexrelid), c.relname::text, x.relname::text FROM pg_index AS i \
      JOIN pg_class AS c ON c.oid = i.indrelid JOIN pg_class AS x ON x.oid = i.indexrelid \
      WHERE c.oid IN (\(own)) AND NOT i.indisprimary AND NOT EXISTS \
      (SELECT 1 FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype = 'x')
      """
    ) { (sql: $0.text($1, 0), table: $0.text($1, 1), name: $0.text($1, 2)) }
    let triggers = try session.all(
      """
      SELECT pg_get_triggerdef(t.oid), c.relname::text, t.tgname::text FROM pg_trigger AS t \
      JOIN pg_class AS c ON c.oid = t.tgrelid WHERE c.oid IN (\(own)) AND NOT t.tgisinternal
      """
    ) { (sql: $0.text($1, 0), table: $0.text($1, 1), name: $0.text($1, 2)) }
    let kept = copied.union(sequences)
    let all = rights.filter { kept.contains($0.table) }.map(\.sql)
      + indexes.filter { copied.contains($0.table) && !indexNames.contains($0.name) }.map(\.sql)
      + triggers.filter { trigger in
        copied.contains(trigger.table) && !Self.triggerPrefixes.contains { trigger.name.hasPrefix($0) }
      }.map(\.sql)
    return try (all + columnAdditions(for: copy)).map { ServerText(stored: StoredDefinition(sql: $0)) }
  }

  /// The names of the store's indexes, including those of its history.
  private func indexNames() throws -> Set<String> {
    let names = try session.all("SELECT indexname::text FROM pg_indexes WHERE schemaname = \(text: session.schema)") {
      $0.text($1, 0)
    }
    return Set(names)
  }
}

// MARK: -

extension ServerSession {
  /// The same connection, for another schema.
  func session(for schema: String) -> ServerSession {
    ServerSession(connection: connection, schema: schema, url: url)
  }

  /// Deletes the schema if nothing is left in it and it belongs to the user; the caller holds the transaction.
  func dropEmptySchema() throws {
    let isOwnAndEmpty = try first(
      """
      SELECT 1 FROM pg_namespace AS n WHERE n.nspname = \(text: schema) AND pg_has_role(n.nspowner, 'USAGE') \
      AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.refclassid = 'pg_namespace'::regclass \
      AND d.refobjid = n.oid AND d.deptype = 'n')
      """
    ) { _, _ in true } ?? false
    if isOwnAndEmpty { try run(["DROP SCHEMA \(schema: ())"]) }
  }

  /// Moves the tables of parked values to the schema of a copy.
  func moveParkedValues(to copy: String) throws {
    let names = ParkedSlot.Table.all.map(ServerText.name)
    let found = try all("SELECT tablename::text FROM pg_tables WHERE schemaname = \(text: schema)") { $0.text($1, 0) }
      .filter(names.contains)
    try run(found.map { "ALTER TABLE \(table: $0) SET SCHEMA \(schemaNamed: copy)" })
  }

  /// Lets a copy in another schema take the place of the store, if there is one; the caller holds the transaction.
  ///
  /// Others' objects in the store's schema remain, and so do their rights, indexes and triggers on the store's tables.
  ///
  /// - Throws: ``PersistenceError/Code/migrationFailed`` if others' objects are in the way.
  func replaceStore(withCopyIn copy: String) throws {
    let copied = try ServerStoreObjects(session(for: copy))
    var additions: [ServerText] = []
    if try tableCount() > 0 {
      let former = try ServerStoreObjects(self)
      try former.requireReplaceable()
      let taken = Set(former.others).intersection(copied.tables).sorted()
      guard taken.isEmpty else {
        throw PersistenceError(
          .migrationFailed, at: .store(url),
          "The model needs tables whose names others use in the schema: '\(taken.joined(separator: "', '"))'.",
          fix: "Rename these tables, or move them to another schema.")
      }
      additions = try former.additions(for: copied)
      try keepProofs(in: copy)
      try run(former.deletion)
    }
    if try !schemaExists() { try run(["CREATE SCHEMA \(schema: ())"]) }
    let other = session(for: copy)
    try other.run(copied.move(to: schema) + ["DROP SCHEMA \(schemaNamed: copy)"])
    try run(additions)
  }
}

extension ServerStoreObjects {
  /// - Throws: ``PersistenceError/Code/migrationFailed`` if others' objects would be lost with the store's tables.
  func requireReplaceable() throws {
    if let online { throw online.exclusion(at: session.url) }
    let dependents = try dependents()
    guard !dependents.isEmpty else { return }
    throw PersistenceError(
      .migrationFailed, at: .store(session.url),
      "Other objects of the database depend on the store's tables, which have to be replaced: "
        + "\(dependents.joined(separator: ", ")).",
      fix: "Drop them first, and create them again afterward.")
  }
}

extension ServerSession {
  func schemaExists() throws -> Bool {
    try first("SELECT 1 FROM pg_namespace WHERE nspname = \(text: schema)") { _, _ in true } ?? false
  }

  /// The number of tables in the schema; 0 if it doesn't exist.
  func tableCount() throws -> Int64 {
    try first(
      "SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        + "WHERE n.nspname = \(text: schema) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')"
    ) { $0.integer($1, 0) } ?? 0
  }
}
