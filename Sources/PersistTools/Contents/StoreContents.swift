package import Persist

/// The contents of a store, row by row: for displaying and comparing stores without a context and its objects.
///
/// Rows are read in batches, so that memory use doesn't grow with the store.
package final class StoreContents {
  /// An object as stored.
  package struct Object {
    package let entity: Entity
    package let key: Int64
    fileprivate let snapshot: RowSnapshot
    /// The key of the last row in the same batch.
    fileprivate let lastOfBatch: Int64
    fileprivate let contents: StoreContents
  }

  /// A value, or the name of its missing file.
  package enum Content: Sendable, Hashable {
    case value(StoredValue)
    case missingFile(String)
  }

  package let metadata: StoreMetadata
  package let model: ManagedObjectModel
  /// The way in which the model was found.
  package let modelOrigin: ModelOrigin
  /// The name of the model version; nil if the model is none of the given versions.
  package let versionName: String?
  /// Problems with the identified model, as errors that weren't thrown: flaws, and the reason why the embedded
  /// model can't be used.
  package let modelNotes: [PersistenceError]
  /// The parts of the model without storage, in words; they read as empty.
  package let gaps: [String]
  let store: any PersistentStore
  private let forms: [[SlotForm]]
  /// By index in ``ManagedObjectModel/entities``.
  private let hasTable: [Bool]
  /// The current members of to-many relationships, by entity index and slot.
  private var windows: [[Int: MemberWindow]]
  /// The thread that reads rows while the caller uses earlier ones.
  private let threads = ThreadPool(name: "Persist reading ahead", maximum: 1)
  /// The number of rows that are read at once. Three batches are in memory, whose values may be large.
  private static let batchSize = 250

  init(_ store: any PersistentStore, _ identified: IdentifiedStore) {
    self.store = store
    let map = identified.tableMap
    gaps = map.differences
    hasTable = map.tables.map { identified.catalog.schema.table(named: $0.table) != nil }
    windows = Array(repeating: [:], count: store.model.entities.count)
    metadata = identified.metadata
    model = store.model
    modelOrigin = identified.origin
    versionName = identified.version?.name
    modelNotes = [identified.embeddedModelError].compactMap { $0 } + identified.model.flaws
    forms = store.model.entities.map { entity in
      entity.properties.map { $0.attribute.map { SlotForm($0) } ?? .none }
    }
  }

  deinit { try? store.close() }

  /// Returns the number of objects of exactly this entity, without subentities.
  package func count(of entity: Entity) throws -> Int {
    guard hasTable[entity.index] else { return 0 }
    return try store.count(RowQuery(entity: entity, includesSubentities: false))
  }

  /// Visits every object of exactly this entity, in key order. Another thread reads the next rows meanwhile.
  @inline(never)
  package func forEachObject(of entity: Entity, _ body: (Object) throws -> Void) throws {
    guard hasTable[entity.index] else { return }
    var last = Int64.min
    let produce = { [store] in
      let batch = try store.rows(
        RowQuery(entity: entity, includesSubentities: false, afterKey: last, limit: Self.batchSize))
      last = batch.greatestReadKey ?? .max
      return (part: batch, isLast: batch.readCount < Self.batchSize)
    }
    try Pipeline.run(on: threads, ahead: 1, producing: produce) { batch in
      guard let end = batch.greatestReadKey else { return }
      for row in batch {
        guard let snapshot = row.snapshot else { continue }
        try body(
          Object(entity: entity, key: row.key, snapshot: snapshot, lastOfBatch: end, contents: self))
      }
    }
  }

  /// Visits the objects with the given identifiers, in this order; those that the store doesn't contain are omitted.
  package func forEachObject(_ ids: [ManagedObjectID], _ body: (Object) throws -> Void) throws {
    let groupSize = 1000
    for start in stride(from: 0, to: ids.count, by: groupSize) {
      let group = ids[start..<min(start + groupSize, ids.count)]
      var found: [ManagedObjectID: Object] = [:]
      for (name, ids) in Dictionary(grouping: group, by: \.entityName) {
        let entity = try model.entity(named: name)
        guard hasTable[entity.index] else { continue }
        let keys = ids.compactMap(\.primaryKey)
        let end = Self.endOfWindow(keys)
        let query = RowQuery(entity: entity, includesSubentities: false, keys: keys)
        for row in try store.rows(query) {
          guard let snapshot = row.snapshot else { continue }
          let id = ManagedObjectID(entityName: name, storeIdentifier: store.identifier, key: .permanent(row.key))
          found[id] = Object(
            entity: entity, key: row.key, snapshot: snapshot, lastOfBatch: end ?? row.key, contents: self)
        }
      }
      for id in group { if let object = found[id] { try body(object) } }
    }
  }

  /// The last of keys whose members are read together; nil if keys that aren't visited lie between most of them.
  private static func endOfWindow(_ keys: [Int64]) -> Int64? {
    guard let first = keys.first, let last = keys.last, zip(keys, keys.dropFirst()).allSatisfy(<) else { return nil }
    return last - first < Int64(4 * keys.count) ? last : nil
  }

  /// Returns the lengths of binary values of objects, by key, without reading them. Null values are missing, and the
  /// length of a value in a file of its own is nil.
  ///
  /// - Parameter slot: The slot of an attribute, or of an element of a composite.
  package func lengths(atSlot slot: Int, of entity: Entity, keys: [Int64]) throws -> [Int64: Int?] {
    try hasTable[entity.index] ? store.lengths(atSlot: slot, of: entity, keys: keys) : [:]
  }

  /// Returns a context over the store, for requests.
  ///
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if the store lacks a table or column for a part of the model
  ///   that requests could use.
  package func context() throws -> ManagedObjectContext {
    guard gaps.isEmpty else {
      throw PersistenceError(
        .incompatibleModel, at: .store(store.url),
        "The store lacks tables or columns for parts of the model: \(gaps.joined(separator: " "))",
        fix: "'persist dump' shows the existing contents; 'persist migrate' adds what is missing.")
    }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    return ManagedObjectContext(coordinator)
  }

  fileprivate func content(
    _ property: Property, _ attribute: AttributeDescription, in object: Object
  ) throws -> Content {
    guard attribute.type != .composite else { return try composite(property, in: object) }
    return try content(property.slot, forms[object.entity.index][property.slot], in: object)
  }

  private func content(_ slot: Int, _ form: SlotForm, in object: Object) throws -> Content {
    let slotCount = object.entity.rowSlotCount
    if form == .externalData, !object.snapshot.isNull(slot, of: slotCount),
      case .file(let name) = object.snapshot.externalContent(slot)
    {
      return try externalContent(named: name)
    }
    return .value(object.snapshot.value(slot, as: form, slotCount: slotCount))
  }

  /// An unavailable file is a fact about the store, not a failure to read it.
  private func externalContent(named name: String) throws -> Content {
    do {
      return try .value(.data(store.externalData(named: name)))
    } catch let error as PersistenceError where error.code == .fileAccess || error.code == .malformedFile {
      return .missingFile(name)
    }
  }

  private func composite(_ property: Property, in object: Object) throws -> Content {
    var root: [String: StoredValue] = [:]
    for element in property.elements {
      switch try content(element.slot, SlotForm(element.attribute), in: object) {
      case .value(let value): root.insert(value, at: element.path.dropFirst())
      case .missingFile(let name): return .missingFile(name)
      }
    }
    return .value(root.values.allSatisfy(\.isNull) ? .null : .composite(root))
  }

  fileprivate func target(_ property: Property, _ relationship: RelationshipDescription, in object: Object)
    -> ManagedObjectID?
  {
    let slotCount = object.entity.rowSlotCount
    guard !object.snapshot.isNull(property.slot, of: slotCount) else { return nil }
    var target = model.destination(of: relationship)
    if let slot = property.entityNumberSlot, !object.snapshot.isNull(slot, of: slotCount) {
      let index = Int(clamping: object.snapshot.integer(slot)) - 1
      if model.entities.indices.contains(index) { target = model.entities[index] }
    }
    return ManagedObjectID(
      entityName: target.name, storeIdentifier: store.identifier,
      key: .permanent(object.snapshot.integer(property.slot)))
  }

  fileprivate func members(
    _ property: Property, _ relationship: RelationshipDescription, of object: Object
  ) throws -> [ManagedObjectID] {
    guard hasTable[model.destination(of: relationship).index] else { return [] }
    let members = try windows[object.entity.index][
      property.slot, default: MemberWindow(property, of: object.entity)
    ].members(of: object.key, upTo: object.lastOfBatch, in: store)
    guard !relationship.isOrdered else { return members }
    return members.sorted { ($0.entityName, $0.primaryKey ?? 0) < ($1.entityName, $1.primaryKey ?? 0) }
  }
}

extension StoreContents.Object {
  /// Returns the value of an attribute; null for transient attributes and other properties.
  package func value(of property: Property) throws -> StoreContents.Content {
    guard let attribute = property.attribute, !attribute.isTransient else { return .value(.null) }
    return try contents.content(property, attribute, in: self)
  }

  /// Returns the text of a decimal number, which may have more digits than `Decimal`. Equal numbers have equal texts,
  /// whatever the store's form of them is.
  package func decimalText(of property: Property) -> String? {
    guard !snapshot.isNull(property.slot, of: entity.rowSlotCount) else { return nil }
    let text = snapshot.string(property.slot)
    return DecimalText(text)?.positional ?? text
  }

  /// Returns the destination of a to-one relationship.
  package func target(of property: Property) -> ManagedObjectID? {
    guard let relationship = property.relationship, !relationship.isToMany, !relationship.isTransient else {
      return nil
    }
    return contents.target(property, relationship, in: self)
  }

  /// Returns the members of a to-many relationship: in order if it is ordered, else sorted by entity name and key.
  package func members(of property: Property) throws -> [ManagedObjectID] {
    guard let relationship = property.relationship, relationship.isToMany, !relationship.isTransient else { return [] }
    return try contents.members(property, relationship, of: self)
  }
}
