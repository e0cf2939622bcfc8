import Foundation
public import Persist

extension PersistentStoreCoordinator {
  /// Opens a document: a store that is read and written as a whole.
  ///
  /// Its objects are in memory while it is open. Each save writes the whole document before it succeeds, so that a save
  /// costs as much as the document is large; a document should have up to some ten thousand objects.
  ///
  /// A document of another version of the model is migrated as a store in a file is, and written in the new form before
  /// this method returns.
  ///
  /// ```swift
  /// try coordinator.addDocument(DocumentFile(at: url, format: .json), options: .automaticMigration)
  /// let context = ManagedObjectContext(coordinator)
  /// ```
  ///
  /// - Parameters:
  ///   - document: Loads and saves the document.
  ///   - options: Those of a store in a file, except that a document has no history, key or backup.
  /// - Returns: A description of the open store, whose type is that of a store in memory.
  /// - Throws: The errors of loading and saving the document; `PersistenceError.Code.fileAccess` if there is none and
  ///   it must not be created; `PersistenceError.Code.malformedFile` for contents that don't fit its model; the errors
  ///   of migrating a store; `PersistenceError.Code.migrationFailed` for a migration that would park values, because a
  ///   document has no place for them; `PersistenceError.Code.invalidRequest` for options that a document can't have.
  @discardableResult
  public func addDocument(_ document: some AtomicStore, options: StoreOptions = StoreOptions()) throws -> StoreInfo {
    try OpenDocument(document, options, in: self).open()
  }
}

/// Opens a document in a coordinator.
private struct OpenDocument {
  private let document: any AtomicStore
  private let options: StoreOptions
  private let coordinator: PersistentStoreCoordinator
  private var model: ManagedObjectModel { coordinator.managedObjectModel }
  private var place: PersistenceError.Place { .store(document.location) }

  init(_ document: any AtomicStore, _ options: StoreOptions, in coordinator: PersistentStoreCoordinator) {
    self.document = document
    self.options = options
    self.coordinator = coordinator
  }

  func open() throws -> StoreInfo {
    try requireOptions()
    let loaded = try document.load()
    guard loaded != nil || options.createsIfMissing && !options.isReadOnly else {
      throw PersistenceError(
        .fileAccess, at: place, "The document doesn't exist.",
        fix: options.isReadOnly ? "Open it for writing to create it." : "Set createsIfMissing to create it.")
    }
    let store = try makeStore(identifier: loaded?.identifier)
    do {
      if let loaded { try fill(store, with: loaded) }
      // The store holds the closure.
      store.beforeEachCommit { [weak store, document, place, isReadOnly = options.isReadOnly] in
        guard !isReadOnly else {
          throw PersistenceError(
            .storeReadOnly, at: place, "The document was opened for reading only.",
            fix: "Open it without isReadOnly to write.")
        }
        if let store { try document.save(DocumentContents.document(of: store)) }
      }
      return try coordinator.add(store)
    } catch {
      try store.close()
      throw error
    }
  }

  private func requireOptions() throws {
    let name: String? =
      if options.tracksHistory || options.historyKeeps != nil {
        "history"
      } else if options.key != nil {
        "key"
      } else if options.backup != nil {
        "backup"
      } else {
        nil
      }
    guard let name else { return }
    throw PersistenceError(
      .invalidRequest, at: place, "A document has no \(name).",
      fix: "Leave out this option, or keep the objects in an SQLite file.")
  }

  private func makeStore(identifier: String?) throws -> any PersistentStore {
    var own = options
    own.migrator = nil
    own.isReadOnly = false
    if let identifier {
      guard let uuid = UUID(uuidString: identifier) else {
        throw PersistenceError(
          .malformedFile, at: place, "The document's identifier '\(identifier)' isn't a UUID.",
          fix: "Restore the document from a backup.")
      }
      own.identifier = uuid
    }
    return try StoreLocation.memory.engine.createStore(at: .memory, model: model, options: own)
  }

  private func fill(_ store: any PersistentStore, with loaded: StoreDocument) throws {
    let former = try ManagedObjectModel(loaded.model)
    guard former.fingerprint != model.fingerprint else {
      return try placed { try DocumentContents.insert(loaded, into: store) }
    }
    let present = try placed { try migrated(loaded, of: former) }
    try placed { try DocumentContents.insert(present, into: store) }
    if !options.isReadOnly { try document.save(present) }
  }

  /// Migrates a document with the plan of a store in a file: the document's objects are in a temporary one meanwhile.
  private func migrated(_ loaded: StoreDocument, of former: ManagedObjectModel) throws -> StoreDocument {
    try TemporaryFolder.with { folder in
      let name = document.location?.lastPathComponent ?? "Document"
      let url = folder.appendingPathComponent("\(name).sqlite")
      var own = StoreOptions()
      own.identifier = UUID(uuidString: loaded.identifier)
      own.keepsLargeValuesInRows = true
      let location = StoreLocation.file(url)
      let old = try location.engine.createStore(at: location, model: former, options: own)
      do {
        try DocumentContents.insert(loaded, into: old)
      } catch {
        try old.close()
        throw error
      }
      try old.close()
      let migration = PersistentStoreCoordinator(model: model, registry: coordinator.registry)
      own = options
      own.isReadOnly = false
      own.keepsLargeValuesInRows = true
      try migration.addStore(at: url, options: own)
      defer { for store in migration.persistentStores { try? migration.remove(store) } }
      guard let store = migration.openStores.first else { return loaded }
      if let parked = try store.parkedSlots().first {
        throw PersistenceError(
          .migrationFailed, at: place,
          "Migrating the document would park values of \(ModelVersion.quoted(parked.version)), which a document has no "
            + "place for.",
          fix: "Keep the document's properties in the model, or let the migrator lose them: "
            + "AutomaticMigrator.parking = .none.")
      }
      return try DocumentContents.document(of: store)
    }
  }

  /// Names the document in errors of the stores that its objects are in.
  private func placed<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch var error as PersistenceError {
      error.place.store = document.location
      error.place.sql = nil
      throw error
    }
  }
}
