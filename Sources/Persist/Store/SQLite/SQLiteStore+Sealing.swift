import Foundation
import Synchronization

/// Opening a store by its seal.
extension SQLiteStore {
  /// Opens the store of an open database by its ``LayoutSeal``: without reading the schema, and without computing more
  /// of the layout than the program uses.
  ///
  /// - Returns: Nil if the store has no valid seal for the model.
  static func sealed(
    _ pool: SQLiteConnectionPool, model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws -> SQLiteStore? {
    guard let url = pool.url, !options.requestsHistory, model.isSealable,
      let (mark, numbers) = try pool.readBeforeOthers({ try sealedState($0, model: model, registry: registry) })
    else { return nil }
    try pool.setFileUp()
    let map = TableMap(predictedFor: model, numbers)
    let opened = OpenedStore(at: url, identifier: mark.identifier, map: map) {
      (try? StoreMetadata(mark, at: url))?.versionHashes ?? [:]
    }
    pool.setWatch(StoreWatch(url, mark: mark, opened))
    return SQLiteStore(
      pool, identifier: mark.identifier, map: map, configuration: options.configuration, hasModelRecord: true,
      fullText: [], history: nil, sealedSchema: mark.schemaVersion)
  }

  /// The state that a store has a valid seal for; nil if it has none.
  private static func sealedState(
    _ connection: SQLiteConnection, model: ManagedObjectModel, registry: ModelRegistry?
  ) throws -> (StoreMark, EntityNumbers)? {
    do {
      return try connection.readTransaction {
        let sql = SQLText.metadata(withRecords: LayoutSeal.key, ModelRecord.Key.modelDigest)
        let found = try connection.first(sql) { (mark: StoreMark($0), seal: $0.data(3), modelDigest: $0.data(4)) }
        guard let (mark, bytes, modelDigest) = found, !bytes.isEmpty,
          // Another version of a registry may have the same storage, and differ only in its text.
          registry == nil || !model.versionIdentifiers.allSatisfy(\.isEmpty) || modelDigest == model.digest
        else { return nil }
        let numbers = EntityNumbers(model: model, rows: try StoreCatalog.numberRows(connection))
        let seal = LayoutSeal(of: model, recordedAs: modelDigest, mark, numbers)
        return seal.bytes == bytes && !mark.identifier.isEmpty ? (mark, numbers) : nil
      }
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
    let catalog = try StoreCatalog(connection)
    guard model.isSealable, catalog.names(model), let modelDigest = catalog.record?.modelDigest,
      !catalog.schema.triggers.contains(where: { $0.isPersists || $0.name.hasPrefix(FullTextIndex.prefix) }),
      HistoryLayout(catalog.schema) == nil
    else { return nil }
    let map = catalog.tableMap(of: model)
    guard map.differences.isEmpty, map.absent.isEmpty, map.hasDeclaredIndexes(in: catalog),
      map.hasSamePlaces(as: TableMap(predictedFor: model, map.numbers))
    else { return nil }
    let seal = LayoutSeal(of: model, recordedAs: modelDigest, catalog.mark, map.numbers)
    try connection.execute(.setModelRecord(LayoutSeal.key, .blob(seal.bytes)))
    return catalog.mark.schemaVersion
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
