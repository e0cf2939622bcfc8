/// The steps of one import, inside a transaction.
///
/// Rows are inserted slice by slice with their to-one relationships. The members of to-many relationships may be rows
/// of later slices, so that they are collected in a temporary table, and joined, ordered and compared with the members'
/// own rows at the end.
struct RowImportPass {
  private let store: SQLiteStore
  private let connection: SQLiteConnection
  /// By index in ``ManagedObjectModel/entities``, the numbers of to-many relationships by slot.
  private let numbers: [[Int: Int]]
  private let relationships: [ImportedRelationship]
  /// The hierarchies that had rows before the import, by index of their root.
  private let filled: Set<Int>
  private var sources = ImportSources()
  private var history: HistoryWriter?
  private(set) var files: LargeValueFiles
  private(set) var outcome = ImportOutcome()

  init(store: SQLiteStore, connection: SQLiteConnection) throws {
    self.store = store
    self.connection = connection
    files = LargeValueFiles(store.pool.options.keepsLargeValuesInRows ? nil : store.folderForNewValues)
    relationships = ImportedRelationship.all(of: store.map)
    numbers = store.model.entities.map { entity in
      ImportedRelationship.numbers(of: entity, among: store.map)
    }
    filled = try Set(
      store.model.entities.filter { $0.superentity == nil }.map { $0.number - 1 }
        .filter { try connection.first(.hasRows(store.map.tables[$0].table)) { _ in true } != nil })
    history = try store.historyWriter(by: nil, connection)
    for statement in SQLText.createImportTables { try connection.execute(statement) }
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
    history = pass.history
    try note(slice.members, of: slice.inserts, pass.insertedKeys)
    outcome.count += slice.inserts.count
    outcome.returning.formUnion(slice.returning)
  }

  /// Records the keys, and refuses those that are in use.
  private mutating func recordKeys(_ keys: [Int64], of slice: ImportSlice) throws {
    let origins = slice.inserts.indices.map { sources.numbers(of: slice.source($0)) }
    try connection.withStatement(.noteImported) { statement in
      for (index, (insert, key)) in zip(slice.inserts, keys).enumerated() {
        let root = insert.entity.root.number - 1
        if filled.contains(root), try isRow(key, of: store.map.tables[root].table) {
          throw inUse(
            insert.entity, key: key, from: origins[index], "The store already has an object with the key \(key).")
        }
        statement.begin()
        statement.bind(Int64(root), at: 1)
        statement.bind(key, at: 2)
        statement.bind(origins[index].file, at: 3)
        statement.bind(origins[index].line, at: 4)
        do { try statement.run() } catch let error as PersistenceError where error.code == .constraintConflict {
          throw inUse(insert.entity, key: key, from: origins[index], "Two imported objects have the key \(key).")
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

  private func inUse(
    _ entity: Entity, key: Int64, from source: (file: Int64, line: Int64), _ message: String
  ) -> PersistenceError {
    let hierarchy = entity.root.hasSubentities ? " Keys are unique among \(entity.root.name) and its subentities." : ""
    let error = PersistenceError(
      .constraintConflict, at: PersistenceError.Place(entity: entity.name, row: key, store: store.url),
      message + hierarchy, fix: "Import into an empty store, or give the object another key.")
    return sources.replacingKey(in: error, by: source)
  }

  /// The error with the source of the row that it is about, if there is one.
  func naming(sourceOf error: PersistenceError) -> PersistenceError {
    guard error.place.file == nil, let key = error.place.row,
      let entity = error.place.entity.flatMap({ store.model.entitiesByName[$0] })
    else { return error }
    let source = try? connection.first(.importedSource(root: Int64(entity.root.number - 1), key: key)) {
      (file: $0.integer(0), line: $0.integer(1))
    }
    return sources.replacingKey(in: error, by: source)
  }

  private func note(
    _ members: [[ImportSlice.Members]], of inserts: [RowWrites.Insert], _ keys: [Int64]
  ) throws {
    try connection.withStatement(.recordMember) { statement in
      func note(_ relationship: Int, owner: Int64, place: Int, member: Int64) throws {
        statement.begin()
        statement.bind(Int64(relationship), at: 1)
        statement.bind(owner, at: 2)
        statement.bind(Int64(place), at: 3)
        statement.bind(member, at: 4)
        try statement.run()
      }
      for (index, (insert, owner)) in zip(inserts, keys).enumerated() where members.indices.contains(index) {
        for list in members[index] {
          guard let number = numbers[insert.entity.number - 1][list.slot] else { continue }
          try note(number, owner: owner, place: -1, member: 0)
          for (place, member) in list.keys.enumerated() { try note(number, owner: owner, place: place, member: member) }
        }
      }
    }
  }

  /// Completes the relationships, and refuses the import if they don't agree or break a rule of the model.
  mutating func finish() throws {
    for relationship in relationships { try requireNoRepetition(relationship) }
    for relationship in relationships { try join(relationship) }
    for relationship in relationships { try requireAgreement(relationship) }
    for relationship in relationships { try order(relationship) }
    for step in CheckStep.steps(for: store.map) { try run(step) }
    for statement in SQLText.dropImportTables { try connection.execute(statement) }
    _ = try history?.finish()
    try files.synchronizeFolder()
  }

  private func requireNoRepetition(_ relationship: ImportedRelationship) throws {
    let sql = SQLText.repeatedMember(relationship.number, onlyOneOwner: relationship.membersHaveOneOwner)
    guard let (owner, member) = try pair(sql) else { return }
    throw relationship.disagreement(
      owner, "'\(relationship.name)' lists \(relationship.destination) \(member) more than once, or "
        + "another object lists it too.", at: store.url)
  }

  private func join(_ relationship: ImportedRelationship) throws {
    switch relationship.place {
    case .join(let join):
      for statement in SQLText.joinImported(relationship.number, join) { try connection.execute(statement) }
    case .foreignKey(let place) where relationship.inverse == nil:
      try connection.execute(.ownImported(relationship.number, place, owners: relationship.ownerTable))
    case .foreignKey: break
    }
  }

  /// Compares the listed members with those in the store.
  private func requireAgreement(_ relationship: ImportedRelationship) throws {
    let number = relationship.number
    let (table, ownerColumn, memberColumn) = relationship.columns
    if case .foreignKey = relationship.place,
      let (owner, member) = try pair(.foreignMember(number, in: table, owner: ownerColumn))
    {
      let inverse = relationship.inverse.map { ", whose '\($0)' leads elsewhere" } ?? ""
      throw relationship.disagreement(
      owner, "'\(relationship.name)' lists \(relationship.destination) \(member)\(inverse), or which doesn't exist.",
        at: store.url)
    }
    let listed = try count(.importedMemberCount(number))
    guard try count(.storedMemberCount(number, in: table, owner: ownerColumn)) != listed,
      let (owner, member) = try pair(
        .unlistedMember(number, in: table, owner: ownerColumn, member: memberColumn))
    else { return }
    throw relationship.disagreement(
      owner, "\(relationship.destination) \(member) leads to this object, but '\(relationship.name)' doesn't list it.",
      at: store.url)
  }

  private func order(_ relationship: ImportedRelationship) throws {
    guard let columns = relationship.orderColumns else { return }
    try connection.execute(
      .orderImported(
        relationship.number, in: columns, first: OrderPlaces.first, distance: OrderPlaces.distance))
    try connection.execute(
      .appendUnordered(in: columns, first: OrderPlaces.first, distance: OrderPlaces.distance))
  }

  // MARK: Checks

  /// The problems that concern no imported row, or that a row in the table can't have.
  private static let ignored: Set<StoreProblem.Kind> = [.keyCounter, .unknownEntity, .wrongTable]

  private mutating func run(_ step: CheckStep) throws {
    guard !Self.ignored.contains(step.kind) else { return }
    try connection.query(step.sql) { row in
      guard !row.isNull(0), let detail = step.detail(row.value(2), row.value(3)) else { return }
      let number = row.isNull(1) ? nil : Int(clamping: row.integer(1))
      let entity = number.flatMap { store.map.table(ofNumber: $0)?.entity } ?? store.model.entitiesByName[step.entity]
      guard let entity, try isImported(row.integer(0), entity) else { return }
      let problem = StoreProblem(
        kind: step.kind, entity: entity.name, pk: row.integer(0), property: step.property,
        detail: detail)
      try outcome.note(problem, at: store.url)
    }
  }

  private func isImported(_ key: Int64, _ entity: Entity) throws -> Bool {
    try connection.withStatement(.isImported) { statement in
      statement.begin()
      statement.bind(Int64(entity.root.number - 1), at: 1)
      statement.bind(key, at: 2)
      defer { statement.reset() }
      return try statement.step()
    }
  }

  private func pair(_ sql: SQLText) throws -> (Int64, Int64)? {
    try connection.first(sql) { ($0.integer(0), $0.integer(1)) }
  }

  private func count(_ sql: SQLText) throws -> Int64 { try connection.first(sql) { $0.integer(0) } ?? 0 }
}
