import Foundation

/// The destination file of a copy, which isn't opened as a store before it is complete.
struct CopyFile: StoreCopy {
  /// A batch can be rolled back, but durability isn't needed yet.
  let options = StoreOptions(pragmas: ["journal_mode": "MEMORY", "synchronous": "OFF"])

  let url: URL
  /// Whether the file is deleted if the copy fails, so that nothing in it has to be rolled back: a journal of a whole
  /// table would take memory proportional to its size.
  let isNew: Bool
  let model: ManagedObjectModel
  let map: TableMap
  /// Reads the store that is copied.
  private let connection: SQLiteConnection

  init(url: URL, isNew: Bool, model: ManagedObjectModel, connection: SQLiteConnection) {
    self.url = url
    self.isNew = isNew
    self.model = model
    self.connection = connection
    map = .forNewStore(model)
  }

  var source: any MigrationConnection { connection }

  func make(metadata: StoreMetadata, coreDataHashes: [String: Data]?) throws {
    try write(.create, settings: fileSettings()) { connection in
      for table in map.tableDefinitions { try connection.execute(.create(table)) }
      for table in SQLText.storeTables { try connection.execute(table) }
      for table in map.tables {
        let parent = table.entity.superentity.map { map.numbers[$0] } ?? 0
        try connection.execute(.addEntityNumber(table.number, name: table.entity.name, parent: parent))
      }
      var metadata = metadata
      // A new file has no deferred steps.
      metadata.deferredSteps = []
      try metadata.record(model, coreDataHashes: coreDataHashes, in: connection)
    }
  }

  /// The settings of the source's file.
  ///
  /// With the same page size and text encoding, the copy's content can replace the source's.
  private func fileSettings() throws -> [String: String] {
    let questions: KeyValuePairs<String, SQLText> = [
      "page_size": .currentPageSize, "encoding": .encoding, "auto_vacuum": .autoVacuum, "user_version": .userVersion,
      "application_id": .applicationID,
    ]
    var settings: [String: String] = Dictionary()
    for (name, question) in questions { settings[name] = try connection.first(question) { $0.text(0) } }
    return settings
  }

  func shareLargeValues() throws {
    guard let source = connection.url else { return }
    try LargeValueLinks(from: ExternalDataFolder(storeAt: source), to: ExternalDataFolder(storeAt: url)).make()
  }

  func usedKeys() throws -> [String: Int64] {
    try write(.readWrite) { connection in
      let catalog = try StoreCatalog(connection)
      let differences = catalog.tableMap(of: model).differences
      guard differences.isEmpty else {
        throw PersistenceError(
          .incompatibleModel, at: .store(url),
          "The destination contains a store of another model: \(differences.joined(separator: " "))",
          fix: "Choose another file.")
      }
      return Dictionary(
        catalog.numberRows.compactMap { row in row.maximum.map { (row.name, $0) } },
        uniquingKeysWith: { first, _ in first })
    }
  }

  func reserve(_ keys: [String: Int64]) throws {
    try write(.readWrite) { connection in
      for (name, key) in keys {
        guard let entity = model.entitiesByName[name] else { continue }
        try connection.execute(.setGreatestKey(key, entity: map.numbers[entity], name: name))
      }
    }
  }

  func attach() throws {
    // The effects of the copy's triggers are produced at the end.
    try connection.prepareForChanges()
    try connection.attachCopy(url, parameters: [("mode", "rw")])
    try connection.execute(.copyLockingNormal)
    try connection.execute(.copyObjectCount)
    guard isNew else { return }
    try connection.execute(.copyJournalOff)
    try connection.execute(.copySynchronousOff)
  }

  func execute(_ sql: SQLText) throws { try connection.execute(sql) }

  func makeAssociations() throws -> any ObjectAssociations { try SQLiteAssociations(connection) }

  func makeIndexes(
    _ body: (_ index: IndexDefinition, _ create: (Int64, ((Int64) -> Bool)?) throws -> Void) throws -> Void
  ) throws {
    try write(.readWrite) { connection in
      let present = Set(try StoreSchema(connection).indexes.map(\.name))
      for index in map.indexDefinitions where !present.contains(index.name) {
        try body(index) { entries, shouldContinue in
          try connection.reportingProgress(rows: entries, shouldContinue) { _ = try connection.execute(.create(index)) }
        }
      }
    }
  }

  func updateDerivedTriggers() throws {
    try write(.readWrite) { try $0.updateDerivedTriggers(map.possibleDerivedColumns, in: map.layout) }
  }

  func makeFullTextIndexes() throws {
    // Indexes all rows, because the copy's triggers haven't run.
    try write(.readWrite) { try $0.updateFullTextIndexes(map.fullTextIndexes) }
  }

  func schema() throws -> StoreSchema { try write(.readWrite) { try StoreSchema($0) } }

  func define(_ definitions: [String]) throws {
    guard !definitions.isEmpty else { return }
    try write(.readWrite) { connection in
      for sql in definitions { try connection.execute(SQLText(storedIn: StoredDefinition(sql: sql))) }
    }
  }

  func renaming(_ schema: StoreSchema, by changes: [SchemaChange]) throws -> StoreSchema {
    let scratch = try SQLiteConnection(nil, mode: .memory)
    defer { scratch.close() }
    try scratch.prepareForChanges()
    func define(_ definitions: [String]) throws {
      for sql in definitions { try scratch.execute(SQLText(storedIn: StoredDefinition(sql: sql))) }
    }
    return try scratch.transaction {
      // Virtual tables create their shadow tables.
      try define(schema.tables.filter(\.columns.isEmpty).map(\.sql))
      let present = Set(try scratch.all(.catalog) { $0.text(1).foldedIdentifier })
      try define(
        schema.tables.filter { table in
          !present.contains(table.name.foldedIdentifier) && !table.name.foldedIdentifier.hasPrefix("sqlite_")
        }.map(\.sql))
      try define(schema.indexes.compactMap(\.sql) + schema.views.map(\.sql) + schema.triggers.map(\.sql))
      for change in changes { try scratch.apply(change) }
      return try StoreSchema(scratch, knowing: StoreSchema(tables: []))
    }
  }

  func apply(_ changes: [SchemaChange]) throws {
    guard !changes.isEmpty else { return }
    try write(.readWrite) { connection in for change in changes { try connection.apply(change) } }
  }

  func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T {
    let connection = try SQLiteConnection(
      url, mode: .readWrite, options: options.with(connection.encryption))
    defer { connection.close() }
    return try body(connection)
  }

  func close() { connection.close() }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func write<T>(
    _ mode: SQLiteConnection.Mode, settings: [String: String] = [:], _ body: (SQLiteConnection) throws -> T
  ) throws -> T {
    let pragmas = isNew ? settings.merging(["journal_mode": "OFF", "synchronous": "OFF"]) { $1 } : Dictionary()
    let options = StoreOptions(pragmas: pragmas).with(connection.encryption)
    let connection = try SQLiteConnection(url, mode: mode, options: options)
    defer { connection.close() }
    try connection.defineMissingFunctions()
    return try connection.transaction { try body(connection) }
  }
}
