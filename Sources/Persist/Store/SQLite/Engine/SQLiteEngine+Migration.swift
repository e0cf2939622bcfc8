import Foundation

extension SQLiteEngine: MigrationEngine {
  package func shownStatements(of change: SchemaChange) -> [String] { SQLText.statements(change).map(\.text) }

  // MARK: Reading and writing

  package func inspect<T>(
    _ location: StoreLocation, options: StoreOptions, _ body: (any StoreInspector) throws -> T
  ) throws -> T {
    try SQLiteConnection.reading(file(location), options: options) { try body($0) }
  }

  package func inspectState<T>(
    of location: StoreLocation, options: StoreOptions, _ body: (any StoreInspector) throws -> T
  ) throws -> (T, (any InspectedState)?) {
    let url = try file(location)
    let files = InspectedFiles(SQLiteFileName.resolved(url))
    var state: InspectedFile?
    var version: UInt32 = 0
    let result = try SQLiteConnection.reading(url, options: options) { connection in
      let result = try body(connection)
      version = connection.dataVersion
      return result
    } keeping: {
      state = InspectedFile($0, version)
    }
    if let state { return (result, state) }
    return (result, files)
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

/// The state of a file that was inspected: SQLite's number of it, which only the connection that has read it can
/// compare.
private final class InspectedFile: InspectedState {
  private let connection: SQLiteConnection
  private let version: UInt32

  init(_ connection: SQLiteConnection, _ version: UInt32) { (self.connection, self.version) = (connection, version) }

  deinit { connection.close() }

  func isPresent() -> Bool {
    defer { connection.close() }
    connection.waitForNothing()
    let present = try? connection.readTransaction {
      // SQLite compares when it reads.
      _ = try connection.first(.schemaVersion) { $0.integer(0) }
      return connection.dataVersion == version && !connection.hasMoved
    }
    return present ?? false
  }
}

/// The state of a file that nobody has open, and that is read without locks: its size and time.
private final class InspectedFiles: InspectedState {
  /// Longer than the units in which file systems count time, so that a later change has another time.
  private static let age = 2.5

  private let url: URL
  private let state: StoreFilesState

  /// Nil if the file is too new, or if it isn't the whole store.
  init?(_ url: URL) {
    (self.url, state) = (url, StoreFilesState(of: url))
    let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
    guard state.isOneFile, let changed = attributes?[.modificationDate] as? Date,
      Date().timeIntervalSince(changed) > Self.age
    else { return nil }
  }

  func isPresent() -> Bool {
    let present = StoreFilesState(of: url)
    return present.isOneFile && present.hasSameFile(as: state)
  }
}
