package import Foundation

/// The self-description of a store: its metadata, its schema, its entity numbers and Persist's record of its model.
///
/// Engines read it at once and without a model; it is used to identify the model. The embedded model is read on demand.
package final class StoreCatalog: Sendable {
  /// The parts of a catalog with which a ``LayoutSeal`` is compared.
  package struct Head: Sendable {
    let mark: StoreMark
    let numberRows: [EntityNumbers.Row]
  }

  package let metadata: StoreMetadata
  package let mark: StoreMark
  package let schema: StoreSchema
  package let numberRows: [EntityNumbers.Row]
  /// Persist's own record of the model, if the store has a valid one.
  package let record: ModelRecord?
  /// Whether the engine can drop a column without rewriting its table.
  package let canDropColumns: Bool

  package init(
    metadata: StoreMetadata, mark: StoreMark, schema: StoreSchema, numberRows: [EntityNumbers.Row],
    record: ModelRecord? = nil, canDropColumns: Bool
  ) {
    self.metadata = metadata
    self.mark = mark
    self.schema = schema
    self.numberRows = numberRows
    self.record = record
    self.canDropColumns = canDropColumns
  }

  /// The layout of a model in the store.
  @inline(never)
  package func tableMap(of model: ManagedObjectModel) -> TableMap {
    let absent = absentEntities(of: model)
    return TableMap(
      model: model, numbers: EntityNumbers(model: model, rows: numberRows, absent: absent), schema: schema,
      absent: absent, placeNames: metadata.placeNames)
  }

  /// Whether Persist's record and the version identifiers are those of a model. The store then has this model, unless
  /// another version is stored in the same form.
  func names(_ model: ManagedObjectModel) -> Bool {
    guard let record, record.fingerprints == model.fingerprints else { return false }
    let identifiers = [model.versionIdentifiers, metadata.versionIdentifiers].map { $0.filter { !$0.isEmpty } }
    return Set(identifiers[0]) == Set(identifiers[1])
  }

  /// Whether the store has the tables of parked values.
  package var canHaveParkedValues: Bool { schema.hasTable(named: ParkedSlot.Table.slots) }

  /// Descriptions of the parts of a model without a place in the store, and of the parts of the store unknown to the
  /// model.
  func schemaDifferences(from model: ManagedObjectModel) -> [String] {
    TableMap.schemaDifferences(
      model: model, rows: numberRows, schema: schema, absent: absentEntities(of: model),
      placeNames: metadata.placeNames)
  }

  /// The entities of a model that the store was created without: Core Data gives a store added for one configuration
  /// only the hashes and tables of that configuration's entities.
  private func absentEntities(of model: ManagedObjectModel) -> Set<String> {
    let held = Set(metadata.versionHashes.keys)
    guard model.hasConfiguration(of: held) else { return [] }
    let absent = model.entities.filter {
      !held.contains($0.name) && !schema.hasTable(named: schema.names.table(of: $0.root.name))
    }
    return Set(absent.map(\.name))
  }
}

/// A mark, read with one statement, that shows whether the model or the layout of a store may have changed.
package struct StoreMark: Sendable, Equatable {
  /// The engine's schema version, which changes whenever the schema does.
  package let schemaVersion: Int64
  /// The identifier in the metadata's own column.
  package let identifier: String
  /// The metadata as a property list, which identifies the model.
  package let propertyList: Data

  package init(schemaVersion: Int64, identifier: String, propertyList: Data) {
    self.schemaVersion = schemaVersion
    self.identifier = identifier
    self.propertyList = propertyList
  }
}

/// Persist's record of a store's model, in a table of its own: fingerprints and the complete text of the model.
///
/// The record identifies the `NSStoreModelVersionHashes` that it was written for. If Core Data migrates the store
/// later, it writes other hashes without updating the record, which is then invalid and treated as missing. The model's
/// text can be long and is only read on demand.
package struct ModelRecord: Sendable {
  /// The fingerprint of each entity of the store's model.
  package let fingerprints: [String: Fingerprint]
  /// The digest of the model's text, which distinguishes versions with identical storage; nil in records without one.
  package let modelDigest: Data?
}
