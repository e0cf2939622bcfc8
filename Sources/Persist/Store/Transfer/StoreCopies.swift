import Foundation

/// Copies of stores within an engine and from one engine to another.
package enum StoreCopies {
  // MARK: Closed stores

  /// Makes a store a copy of another one, of any engine, in one transaction if it exists already.
  ///
  /// - Parameters:
  ///   - registry: The models of a store that contains none.
  ///   - parked: The treatment of parked values, which a copy within an engine always contains.
  ///   - report: Called with the number of rows copied so far; never, if the store is copied as a file.
  package static func replaceStore(
    at location: StoreLocation, with source: StoreLocation, registry: ModelRegistry? = nil,
    parked: ParkedCopying, reporting report: (_ rows: Int) throws -> Void = { _ in }
  ) throws {
    let engine = try location.engine
    if case (.file, .file) = (location, source) { return try engine.replaceStore(at: location, withCopyAt: source) }
    try withCopy(
      of: source, registry: registry, beside: location, parked: parked,
      reporting: { rows, _ in try report(rows) }
    ) { copy, _ in
      try engine.replaceStore(at: location, withCopyAt: copy)
    }
  }

  /// Runs code with a copy of a store beside another one, of the same engine as that. The remains of the copy are
  /// deleted afterward.
  ///
  /// - Parameters:
  ///   - registry: The models of a store that contains none.
  ///   - parked: The treatment of parked values, which a copy within an engine always contains.
  ///   - returning: The required properties whose missing values `body` restores, as `Entity.property`.
  ///   - encryption: The encryption of a copy in a file. `body` runs with it.
  ///   - report: Called with the number of rows copied so far; never, if the store is copied as a file.
  ///   - completing: Called with the completed fraction of the work that follows the last row, if that takes long.
  ///   - body: Called with the copy, and with the state of the original that was copied. A store that is copied as a
  ///     file, or that can't hold a state, may have changed since.
  package static func withCopy(
    of source: StoreLocation, registry: ModelRegistry? = nil, beside location: StoreLocation,
    parked: ParkedCopying, restoring returning: Set<String> = [],
    encryptedLike encryption: StoreEncryption? = StoreEncryption.current,
    reporting report: (_ rows: Int, _ original: CopiedState) throws -> Void = { _, _ in },
    completing: (Double) throws -> Void = { _ in },
    _ body: (_ copy: StoreLocation, _ original: CopiedState) throws -> Void
  ) throws {
    let original = try CopiedState(of: source, registry: registry)
    defer { original.close() }
    try withNeighbor(of: location) { neighbor in
      if case (.file(let url), .file(let copy)) = (source, neighbor) {
        try StoreBackup.copy(storeAt: url, to: copy, encryption)
      } else {
        try copy(
          original.store, to: neighbor, metadata: original.identified.metadata,
          options: StoreOptions().with(encryption), parked: parked, restoring: returning,
          reporting: { try report($0, original) }, completing: completing
        ).close()
      }
      try StoreEncryption.using(encryption) { try body(neighbor, original) }
    }
  }

  /// Runs code with a location beside another one, where nothing remains afterward.
  private static func withNeighbor(of location: StoreLocation, _ body: (StoreLocation) throws -> Void) throws {
    switch location {
    case .memory: try body(.memory)
    case .server(var address):
      // The name differs from those of the user's stores and of other programs' copies.
      var name = address.schema.prefix(20)
      while name.utf8.count > 40 { name.removeLast() }
      address.schema = String(name) + "_copy_" + UUID().uuidString.prefix(8).lowercased()
      let neighbor = StoreLocation.server(address)
      defer { try? neighbor.engine.destroyStore(at: neighbor) }
      try body(neighbor)
    case .file(let url):
      let place = SQLiteFileName.resolved(url)
      UnfinishedCopy.removeLeftovers(of: place)
      let unfinished = try UnfinishedCopy(of: place, like: StorePermissions(ofStoreAt: place))
      defer { unfinished.discard() }
      try body(.file(unfinished.file))
    }
  }

  // MARK: Open stores

  /// Copies one state of a store to a new location.
  package static func backUp(_ store: any PersistentStore, to location: StoreLocation, parked: ParkedCopying) throws {
    if store.type == StoreType.sqlite.rawValue, case .file(let url) = location { return try store.backUp(to: url) }
    try store.copying(thenClosing: false) { state in
      try copy(
        state, of: store, to: location, identifier: store.identifier, options: StoreOptions(), parked: parked
      ).close()
    }
  }

  /// Copies a store to another location under a new identifier, and closes it.
  ///
  /// - Parameters:
  ///   - parked: The treatment of parked values.
  ///   - replace: Makes the copy take the store's place.
  /// - Returns: The copy, open.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the copy is in memory and would lack parked values.
  package static func move(
    _ store: any PersistentStore, to location: StoreLocation, options: StoreOptions, parked: ParkedCopying,
    replace: (any PersistentStore) -> Void
  ) throws -> any PersistentStore {
    let isOnServer = if case .server = location { true } else { false }
    // SQLite copies pages, which are the same in a file and in memory only if neither is encrypted.
    let isOtherForm = location == .memory && store.isEncrypted
    guard isOnServer || isOtherForm || store.type == StoreType.postgreSQL.rawValue else {
      return try store.move(to: location, options: options, replace: replace)
    }
    if location == .memory { try requireNothingParked(in: store) }
    return try store.copying(thenClosing: true) { state in
      let copy = try copy(
        state, of: store, to: location, identifier: UUID().uuidString, options: options, parked: parked)
      replace(copy)
      return copy
    }
  }

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if programs use a store with two models, only one of which a
  ///   copy would have.
  private static func requireOneModel(of store: any PersistentStore) throws {
    try (store as? any InspectableStore)?.inspect { inspector in
      guard let served = try inspector.servedModels(), served.isServingBoth else { return }
      throw served.refusal(
        "It has values of both versions, of which a copy would have those of one alone; the server's own pg_dump "
          + "copies all of them.", at: .store(inspector.url))
    }
  }

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if values are parked in a store whose objects alone are copied.
  private static func requireNothingParked(in store: any PersistentStore) throws {
    guard let slot = try store.parkedSlots().first else { return }
    throw PersistenceError(
      .invalidRequest, at: slot.property.isEmpty ? .entity(slot.entity) : .property(slot.entity, slot.property),
      "A copy in memory would lose the parked values of \(ModelVersion.quoted(slot.version)): it contains only the "
        + "store's objects.",
      fix: "Purge the parked values with `persist parked --purge`, or move the store to a file.")
  }

  /// Copies a state of an open store, with metadata that were set and not yet written.
  private static func copy(
    _ state: any PersistentStore, of store: any PersistentStore, to location: StoreLocation, identifier: String,
    options: StoreOptions, parked: ParkedCopying
  ) throws -> any PersistentStore {
    guard try location.engine.canCreateStore(at: location) else {
      throw PersistenceError(
        .fileAccess, at: .store(location.url), "The store already exists.",
        fix: "Choose another location, or delete it.")
    }
    var metadata = try store.metadata()
    metadata.identifier = identifier
    metadata.history = try state.metadata().history
    return try copy(state, to: location, metadata: metadata, options: options, parked: parked)
  }

  /// - Parameters:
  ///   - metadata: The metadata of the copy. Nothing remains of it if copying fails.
  ///   - parked: The treatment of parked values.
  ///   - returning: The required properties whose missing values the caller restores, as `Entity.property`.
  private static func copy(
    _ source: any PersistentStore, to location: StoreLocation, metadata: StoreMetadata, options: StoreOptions,
    parked: ParkedCopying, restoring returning: Set<String> = [],
    reporting report: (_ rows: Int) throws -> Void = { _ in }, completing: (Double) throws -> Void = { _ in }
  ) throws -> any PersistentStore {
    try requireOneModel(of: source)
    let engine = try location.engine
    var metadata = metadata
    metadata.beginLife()
    // The copy is made as a new store, in which nothing is left to do.
    metadata.deferredSteps = []
    var own = options
    // The history is that of the original.
    (own.tracksHistory, own.historyKeeps) = (false, nil)
    let store = try engine.createStore(at: location, model: source.model, options: own)
    do {
      let transfer = StoreTransfer(source, to: store.identifier)
      var rows = 0
      func next() throws -> ImportSlice? {
        var slice = try transfer.next()
        slice?.returning = returning
        rows += slice?.inserts.count ?? 0
        try report(rows)
        return slice
      }
      _ = try store.insert(slices: next, completing: completing)
      try store.retireKeys(upTo: source.assignedKeys())
      guard location != .memory else {
        // The history and the record of the model are the copy's own.
        metadata.identifier = store.identifier
        try store.setMetadata(metadata)
        try store.savePendingMetadata()
        return store
      }
      if let original = source as? any HistorySource, let copy = store as? any HistorySource {
        metadata.history = try copy.copyHistory(of: original, metadata.history) ?? HistorySettings()
      }
      try store.close()
      try engine.replaceMetadata(metadata, ofStoreAt: location)
      if case .copied(let copier) = parked, try !source.parkedSlots().isEmpty {
        try copyParked(from: source, to: location, options, copier)
      }
      return try engine.openStore(at: location, model: source.model, options: options, allowsGaps: false)
    } catch {
      try? store.close()
      try? engine.destroyStore(at: location)
      throw error
    }
  }

  private static func copyParked(
    from source: any PersistentStore, to location: StoreLocation, _ options: StoreOptions, _ copier: any ParkedCopier
  ) throws {
    guard let source = source as? any InspectableStore else { return }
    let connection = try location.engine.connect(to: location, options: options)
    defer { connection.close() }
    try connection.prepareForMigration()
    try connection.transaction {
      try source.inspect { try copier.copyParked(from: $0, to: connection, source.model) }
    }
  }
}

extension PersistentStore {
  /// The greatest keys that may have been assigned, by the index of the hierarchy's root.
  fileprivate func assignedKeys() throws -> [Int: Int64] {
    var keys: [Int: Int64] = Dictionary()
    for root in model.entities where root.superentity == nil {
      let key = try greatestAssignedKey(inHierarchyOf: root)
      if key > 0 { keys[root.index] = key }
    }
    return keys
  }
}
