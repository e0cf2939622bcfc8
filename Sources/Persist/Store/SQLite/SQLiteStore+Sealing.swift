import Foundation
import Synchronization

/// Opening a store by its seal.
extension SQLiteStore {
  /// The store of an open database with a seal: without reading the schema, and without computing more of the layout
  /// than the program uses.
  static func sealed(
    _ state: LayoutSeal.State, in pool: SQLiteConnectionPool, model: ManagedObjectModel, options: StoreOptions
  ) throws -> SQLiteStore {
    try pool.setFileUp()
    let (mark, url) = (state.mark, pool.url)
    let map = TableMap(predictedFor: model, state.numbers)
    if let url {
      let opened = OpenedStore(at: url, identifier: mark.identifier, map: map) {
        (try? StoreMetadata(mark, at: url)) ?? StoreMetadata(identifier: mark.identifier, values: Dictionary())
      }
      pool.setWatch(StoreWatch(url, mark: mark, opened))
    }
    return SQLiteStore(
      pool, identifier: mark.identifier, map: map, configuration: options.configuration, hasModelRecord: true,
      fullText: [], history: nil, sealedSchema: mark.schemaVersion)
  }

  /// Reads the state for which a store has a valid seal for a model.
  ///
  /// - Parameter head: Receives the part of the catalog that was read; unchanged if none was.
  /// - Returns: Nil if it has none, or if the options request more than a seal vouches for.
  static func sealedState(
    _ connection: SQLiteConnection, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions,
    _ head: inout StoreCatalog.Head?
  ) throws -> LayoutSeal.State? {
    guard connection.url != nil, !options.requestsHistory, model.isSealable else { return nil }
    do {
      let sql = try SQLText.metadata(
        schemaVersion: connection.schemaVersion, withRecords: LayoutSeal.key, ModelRecord.Key.modelDigest)
      var mark = StoreMark(schemaVersion: 0, identifier: "", propertyList: Data())
      var (bytes, modelDigest) = (Data(), Data())
      try connection.query(sql) { (mark, bytes, modelDigest) = (StoreMark($0), $0.data(3), $0.data(4)) }
      guard !bytes.isEmpty, !mark.identifier.isEmpty else { return nil }
      let rows = try StoreCatalog.numberRows(connection)
      head = StoreCatalog.Head(mark: mark, numberRows: rows)
      let numbers = EntityNumbers(model: model, rows: rows)
      guard LayoutSeal(of: model, recordedAs: modelDigest, mark, numbers).bytes == bytes,
        // Another version of a registry may have the same storage, and differ only in its text.
        registry == nil || !model.versionIdentifiers.allSatisfy(\.isEmpty) || modelDigest == model.digest
      else { return nil }
      return LayoutSeal.State(mark: mark, numbers: numbers)
    } catch let error as PersistenceError where [.sqlite, .storeDamaged].contains(error.code) {
      // There is no record, or the file is no store: reading the catalog reports the reason.
      return nil
    }
  }

  /// Seals the store for the first time, or renews its seal; does nothing if it can't have one. The caller holds the
  /// transaction.
  ///
  /// - Parameter hasNewMetadata: Whether the transaction has changed the metadata, which ends a seal.
  func seal(_ connection: SQLiteConnection, hasNewMetadata: Bool) throws {
    let isSealed = sealedSchema.load(ordering: .acquiring) != 0
    guard needsSeal.load(ordering: .acquiring) || (isSealed && hasNewMetadata) else { return }
    let schema = try Self.seal(connection, model: model, known: (sealedSchema.load(ordering: .acquiring), map.numbers))
    sealedSchema.store(schema ?? 0, ordering: .releasing)
  }

  /// Seals a store if its layout is the predicted one; the caller holds the transaction.
  ///
  /// - Parameter known: The schema version and the entity numbers for which the layout is the predicted one.
  /// - Returns: The schema version of the sealed store; nil if it can't have a seal.
  static func seal(
    _ connection: SQLiteConnection, model: ManagedObjectModel, known: (schema: Int64, numbers: EntityNumbers)? = nil
  ) throws -> Int64? {
    if let known, let seal = try renewedSeal(connection, model: model, known) {
      try connection.execute(.setModelRecord(LayoutSeal.key, .blob(seal.bytes)))
      return known.schema
    }
    guard model.isSealable else { return nil }
    let catalog = try StoreCatalog(connection)
    guard catalog.names(model) else { return nil }
    let map = catalog.tableMap(of: model)
    let predicted = TableMap(predictedFor: model, map.numbers)
    return try seal(connection, catalog: catalog, map: map, predicted: predicted)?.mark.schemaVersion
  }

  /// Seals a store with a known catalog if its layout is the predicted one; the caller holds the transaction.
  ///
  /// - Parameters:
  ///   - catalog: The catalog of a store that records the model.
  ///   - map: The layout of the model in the store.
  ///   - predicted: The layout that the rules predict.
  ///   - schemaVersion: The present schema version, if it isn't the catalog's, although the schema is.
  /// - Returns: The sealed state; nil if the store can't have a seal.
  static func seal(
    _ connection: SQLiteConnection, catalog: StoreCatalog, map: TableMap, predicted: TableMap,
    schemaVersion: Int64? = nil
  ) throws -> LayoutSeal.State? {
    guard map.model.isSealable, let modelDigest = catalog.record?.modelDigest,
      !catalog.schema.triggers.contains(where: { $0.isPersists || $0.name.hasPrefix(FullTextIndex.prefix) }),
      HistoryLayout(catalog.schema) == nil,
      map.differences.isEmpty, map.absent.isEmpty, map.hasDeclaredIndexes(in: catalog),
      map.missingKeys(in: catalog.schema).isEmpty, map.missingUniqueIndexes(in: catalog.schema).isEmpty,
      map.hasSamePlaces(as: predicted)
    else { return nil }
    let mark = StoreMark(
      schemaVersion: schemaVersion ?? catalog.mark.schemaVersion, identifier: catalog.mark.identifier,
      propertyList: catalog.mark.propertyList)
    let seal = LayoutSeal(of: map.model, recordedAs: modelDigest, mark, map.numbers)
    try connection.execute(.setModelRecord(LayoutSeal.key, .blob(seal.bytes)))
    return LayoutSeal.State(mark: mark, numbers: map.numbers)
  }

  /// The seal of a store in which only metadata have changed; nil if anything else may have.
  private static func renewedSeal(
    _ connection: SQLiteConnection, model: ManagedObjectModel, _ known: (schema: Int64, numbers: EntityNumbers)
  ) throws -> LayoutSeal? {
    let mark = try StoreMark(connection)
    guard mark.schemaVersion == known.schema,
      let modelDigest = try ModelRecord.read(ModelRecord.Key.modelDigest, from: connection)
    else { return nil }
    let numbers = EntityNumbers(model: model, rows: try StoreCatalog.numberRows(connection))
    guard numbers.byIndex == known.numbers.byIndex else { return nil }
    return LayoutSeal(of: model, recordedAs: modelDigest, mark, numbers)
  }
}

extension SQLiteConnection {
  package func recordLayout(_ map: TableMap, _ catalog: StoreCatalog, planned: TableMap) throws {
    // A seal describes this file, but recorded statements are run on other files.
    guard recordedStatements == nil else { return }
    let predicted = planned.numbers.byIndex == map.numbers.byIndex && planned.names == map.names
      ? planned : TableMap(predictedFor: map.model, map.numbers)
    migratedState = try SQLiteStore.seal(
      self, catalog: catalog, map: map, predicted: predicted, schemaVersion: schemaVersion)
  }
}
