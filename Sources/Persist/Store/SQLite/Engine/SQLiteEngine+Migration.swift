import Foundation

extension SQLiteEngine: MigrationEngine {
  package func shownStatements(of change: SchemaChange) -> [String] { SQLText.statements(change).map(\.text) }

  // MARK: Reading and writing

  package func inspect<T>(
    _ location: StoreLocation, options: StoreOptions, _ body: (any StoreInspector) throws -> T
  ) throws -> T {
    try SQLiteConnection.reading(file(location), options: options) { try body($0) }
  }

  package func connect(to location: StoreLocation, options: StoreOptions) throws -> any MigrationConnection {
    try SQLiteConnection(file(location), mode: .readWrite, options: options)
  }

  package func finishConversions(in location: StoreLocation, options: StoreOptions) throws {
    let connection = try SQLiteConnection(file(location), mode: .readWrite, options: options)
    defer { connection.close() }
    try connection.finishConversions()
  }

  package func state(of location: StoreLocation) -> AnyHashable {
    AnyHashable(StoreFilesState(of: location.url.map(SQLiteFileName.resolved)))
  }

  /// The size of the file and its write-ahead log.
  package func size(of location: StoreLocation) -> Int {
    guard let url = location.url else { return 0 }
    return [url, SQLiteFileName.companion(of: url, "-wal")].reduce(0) { $0 + Int(clamping: FileState($1)?.size ?? 0) }
  }

  package func requireDiskSpace(for location: StoreLocation, bytes: Int) throws {
    let url = try file(location)
    try DiskSpaceCheck(besideStoreAt: SQLiteFileName.resolved(url), needed: Int64(bytes))?.require(at: url)
  }

  package func withBackup<T>(
    of location: StoreLocation, _ backup: MigrationBackup, waitingAtMost wait: Duration, _ body: () throws -> T
  ) throws -> T {
    let store = SQLiteFileName.resolved(try file(location))
    return try BackedUpMigration(store: store, backup: backup, busyTimeout: wait).run(body)
  }

  // MARK: Copying

  package func workspace(for location: StoreLocation, waitingAtMost wait: Duration) throws -> any MigrationWorkspace {
    try WorkingFolder(besideStoreAt: SQLiteFileName.resolved(file(location)), waitingAtMost: wait)
  }

  package func duplicate(_ source: StoreLocation, to destination: StoreLocation) throws {
    let (source, destination) = (try file(source), try file(destination))
    let connection = try SQLiteConnection(source, mode: .readOnly)
    defer { connection.close() }
    try connection.copyDatabase(to: destination)
    try LargeValueLinks(
      from: ExternalDataFolder(storeAt: source), to: ExternalDataFolder(storeAt: destination)
    ).make()
  }

  package func copy(
    _ source: StoreLocation, to destination: StoreLocation, model: ManagedObjectModel, isNew: Bool
  ) throws -> any StoreCopy {
    let connection = try SQLiteConnection(file(source), mode: .readOnlyWritingAttached)
    return CopyFile(url: try file(destination), isNew: isNew, model: model, connection: connection)
  }

  package func recordMigrationInHistory(
    of location: StoreLocation, from former: TableMap, to model: ManagedObjectModel, renames: PropertyRenames
  ) throws {
    let connection = try SQLiteConnection(file(location), mode: .readWrite)
    defer { connection.close() }
    try connection.transaction {
      try connection.adaptHistory(
        from: former, to: connection.catalog().tableMap(of: model), renames: renames)
    }
  }

  package func copyParkedValues(from source: StoreLocation, to destination: StoreLocation) throws {
    guard try !inspect(source, options: StoreOptions(), { try $0.parkedSlots() }).isEmpty else { return }
    let connection = try SQLiteConnection(file(destination), mode: .readWrite)
    defer { connection.close() }
    try connection.attachCopy(file(source))
    try connection.transaction {
      for statement in SQLText.copyParking { try connection.execute(statement) }
    }
    try connection.execute(.detachCopy)
  }

  package func changeMetadata(
    of location: StoreLocation, completingFile: Bool, _ change: (inout StoreMetadata) -> Void
  ) throws {
    let connection = try SQLiteConnection(file(location), mode: .readWrite)
    defer { connection.close() }
    try connection.transaction {
      var metadata = try StoreMetadata(connection)
      change(&metadata)
      try metadata.write(to: connection)
    }
    if completingFile { try connection.execute(.journalModeDelete) }
  }
}
