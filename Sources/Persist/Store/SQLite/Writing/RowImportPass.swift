/// The steps of one import, inside a transaction.
///
/// Rows are inserted slice by slice with their to-one relationships. The members of to-many relationships may be rows
/// of later slices, so that they are collected in a temporary table, and joined, ordered and compared with the members'
/// own rows at the end.
struct RowImportPass: ~Copyable {
  private let store: SQLiteStore
  private let connection: SQLiteConnection
  /// By index in ``ManagedObjectModel/entities``, the numbers of to-many relationships by slot.
  private let numbers: [[Int: Int]]
  /// The hierarchies that had rows before the import, by index of their root.
  private let filled: Set<Int>
  private var sources = ImportSources()
  private let history: HistoryWriter?
  private(set) var files: LargeValueFiles
  private(set) var outcome = ImportOutcome()

  init(store: SQLiteStore, connection: SQLiteConnection) throws {
    let filled = try Set(
      store.model.entities.filter { $0.superentity == nil }.map(\.index)
        .filter { try connection.first(.hasRows(store.map.tables[$0].table)) { _ in true } != nil })
    let history = try store.historyWriter(by: nil, connection)
    for sql in SQLText.createImportTables { try connection.execute(sql) }
    (self.store, self.connection, self.filled, self.history) = (store, connection, filled, history)
    files = LargeValueFiles(store.pool.options.keepsLargeValuesInRows ? nil : store.folderForNewValues)
    numbers = store.model.entities.map { entity in
      ImportedRelationship.numbers(of: entity, among: store.map)
    }
  }

  mutating func insert(_ slice: ImportSlice) throws {
    var writes = RowWrites()
    writes.inserts = slice.inserts
    var pass = CommitPass(writes, store: store, connection: connection)
    pass.files = files
    pass.history = history
    defer { files = pass.files }
    try pass.assignKeys()
    try recordKeys(pass.insertedKeys, of: slice)
    try pass.insertRows()
    try pass.recordChanges()
    try recordMembers(of: slice, pass.insertedKeys)
    outcome.count += slice.inserts.count
    outcome.returning.formUnion(slice.returning)
  }

  /// Records the keys, and refuses those that are in use.
  private mutating func recordKeys(_ keys: [Int64], of slice: ImportSlice) throws {
    let origins = slice.inserts.indices.map { sources.numbers(of: slice.source($0)) }
    try connection.withStatement(.recordImported) { statement in
      for (index, (insert, key)) in zip(slice.inserts, keys).enumerated() {
        let root = insert.entity.root.index
        if filled.contains(root), try isRow(key, of: store.map.tables[root].table) {
          throw sources.keyInUse(
            key, of: insert.entity, from: origins[index], "The store already has an object with the key \(key).",
            at: store.url)
        }
        statement.begin()
        statement.bind(Int64(root), at: 1)
        statement.bind(key, at: 2)
        statement.bind(origins[index].file, at: 3)
        statement.bind(origins[index].line, at: 4)
        do { try statement.run() } catch let error as PersistenceError where error.code == .constraintConflict {
          throw sources.keyInUse(
            key, of: insert.entity, from: origins[index], "Two imported objects have the key \(key).", at: store.url)
        }
      }
    }
  }

  private func isRow(_ key: Int64, of table: String) throws -> Bool {
    try connection.withStatement(.isRow(of: table)) { statement in
      statement.begin()
      statement.bind(key, at: 1)
      defer { statement.reset() }
      return try statement.step()
    }
  }

  /// The error with the source of the row that it is about, if there is one.
  func naming(sourceOf error: PersistenceError) -> PersistenceError {
    sources.naming(sourceOf: error, in: store.model, connection)
  }

  private func recordMembers(of slice: ImportSlice, _ keys: [Int64]) throws {
    try connection.withStatement(.recordMember) { statement in
      try slice.forEachMember(ofRowsWith: keys, numbers) { relationship, owner, place, member in
        statement.begin()
        statement.bind(relationship, at: 1)
        statement.bind(owner, at: 2)
        statement.bind(place, at: 3)
        statement.bind(member, at: 4)
        try statement.run()
      }
    }
  }

  /// The problems that concern no imported row, or that a row in the table can't have.
  private static let ignored: Set<StoreProblem.Kind> = [.keyCounter, .unknownEntity, .wrongTable]

  /// Completes the relationships, and refuses the import if they don't agree or break a rule of the model.
  mutating func finish() throws {
    let completion = ImportCompletion(store.map, in: connection) { !Self.ignored.contains($0) }
    try completion.run(into: &outcome, findings: connection.forEachFinding) { _ in }
    for sql in SQLText.dropImportTables { try connection.execute(sql) }
    _ = try history?.finish()
    try files.synchronizeFolder()
  }
}
