import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// A model with every kind of attribute and relationship, and writes to its stores without objects.
struct StoreFixture {
  let model: ManagedObjectModel

  init() throws {
    let attributes: [AttributeDescription] = [
      .init("int16", .int16), .init("int64", .int64), .init("flag", .boolean), .init("double", .double),
      .init("float", .float), .init("decimal", .decimal), .init("text", .string), .init("date", .date),
      .init("bytes", .binary), .init("large", .binary, allowsExternalStorage: true), .init("uuid", .uuid),
      .init("link", .uri), .init("archived", .transformable), .init("memory", .string, isTransient: true),
      .init("place", .composite, compositeName: "Place"),
    ]
    model = try ManagedObjectModel(
      ModelDescription(
        entities: [
          EntityDescription("Everything", attributes: attributes),
          EntityDescription(
            "Person", isAbstract: true, attributes: [.init("name", .string)],
            relationships: [
              .init("home", to: "House", inverse: "residents"),
              .init("friends", toMany: "Person", inverse: "friends"),
            ]),
          EntityDescription(
            "Child", parent: "Person", attributes: [.init("age", .int16)],
            relationships: [.init("carer", to: "Person", inverse: nil)]),
          EntityDescription("Adult", parent: "Person", attributes: [.init("age", .double)]),
          EntityDescription(
            "House", attributes: [.init("number", .int32), .init("street", .string)],
            relationships: [
              .init("residents", toMany: "Person", inverse: "home", isOrdered: true),
              .init("tags", toMany: "Tag", inverse: "houses", isOrdered: true),
              .init("marks", toMany: "Tag", inverse: nil),
            ], uniquenessConstraints: [["street", "number"]]),
          EntityDescription(
            "Tag", attributes: [.init("label", .string)],
            relationships: [.init("houses", toMany: "House", inverse: "tags")], uniquenessConstraints: [["label"]]),
        ],
        composites: [
          CompositeDescription("Place", elements: [.init("x", .double), .init("inner", .composite, compositeName: "Inner")]),
          CompositeDescription("Inner", elements: [.init("note", .string)]),
        ]))
  }

  func entity(_ name: String) throws -> Entity { try model.entity(named: name) }

  /// Creates a store at a temporary location, of the engine of the run.
  func withStore(_ body: (any PersistentStore) throws -> Void) throws {
    try withTemporaryStore { url in
      let store = try createStore(at: url, model: model)
      try body(store)
      try store.close()
    }
  }

  /// Creates a store in a file, for a test about SQLite.
  func withFile(_ body: (SQLiteStore) throws -> Void) throws {
    try withTemporaryFile { url in
      let store = try SQLiteStore.create(url, model: model)
      try body(store)
      try store.close()
    }
  }

  /// Closes a store and opens it again.
  func reopened(_ store: any PersistentStore, readOnly: Bool = false) throws -> any PersistentStore {
    guard let url = store.url else { return store }
    try store.close()
    return try openStore(at: url, model: model, options: StoreOptions(isReadOnly: readOnly))
  }

  /// Closes a store and opens its file again.
  func reopened(_ store: SQLiteStore, readOnly: Bool = false) throws -> SQLiteStore {
    let store: any PersistentStore = try reopened(store as any PersistentStore, readOnly: readOnly)
    guard let file = store as? SQLiteStore else { throw PersistenceError(.storeTypeMismatch, "Not a file.") }
    return file
  }

  func insert(
    _ name: String, _ values: [String: StoredValue] = [:], id: ManagedObjectID? = nil
  ) throws -> RowWrites.Insert {
    let entity = try entity(name)
    var row = [StoredValue](repeating: .null, count: entity.properties.count)
    for (key, value) in values {
      guard let slot = entity.property(named: key)?.slot else { throw PersistenceError(.unknownProperty, key) }
      row[slot] = value
    }
    return RowWrites.Insert(id: id ?? ManagedObjectID(temporaryFor: name), entity: entity, values: row)
  }

  func update(
    _ id: ManagedObjectID, version: Int64 = 1, _ values: KeyValuePairs<String, StoredValue>
  ) throws -> RowWrites.Update {
    let entity = try entity(id.entityName)
    let changes = try values.map { key, value in
      guard let slot = entity.property(named: key)?.slot else { throw PersistenceError(.unknownProperty, key) }
      return (slot: slot, value: value)
    }
    return RowWrites.Update(id: id, entity: entity, version: version, changes: changes)
  }

  func delete(_ id: ManagedObjectID, version: Int64 = 1) throws -> RowWrites.RowVersion {
    RowWrites.RowVersion(id: id, entity: try entity(id.entityName), version: version)
  }

  func link(
    _ owner: ManagedObjectID, _ name: String, add: [ManagedObjectID] = [], remove: [ManagedObjectID] = []
  ) throws -> RowWrites.Link {
    let entity = try entity(owner.entityName)
    return RowWrites.Link(
      owner: owner, entity: entity, slot: entity.property(named: name)?.slot ?? -1, added: add, removed: remove)
  }

  func order(_ owner: ManagedObjectID, _ name: String, _ members: [ManagedObjectID]) throws -> RowWrites.Ordering {
    let entity = try entity(owner.entityName)
    return RowWrites.Ordering(
      owner: owner, entity: entity, slot: entity.property(named: name)?.slot ?? -1, members: members)
  }

  func related(_ store: any PersistentStore, _ owner: ManagedObjectID, _ name: String) throws -> [ManagedObjectID] {
    let entity = try entity(owner.entityName)
    guard let property = entity.property(named: name) else { throw PersistenceError(.unknownProperty, name) }
    return try store.related(by: property, of: entity, key: owner.primaryKey ?? 0)
  }
}

extension RowBatch.Row {
  /// Every value of the row by property name, those of composite attributes by the path of each element.
  func values(_ model: ManagedObjectModel) throws -> [String: StoredValue] {
    let entity = model.entities[entityIndex]
    guard let snapshot else { return [:] }
    var values: [String: StoredValue] = [:]
    func take(_ slot: Int, _ attribute: AttributeDescription, _ name: String) {
      let value = snapshot.value(slot, as: SlotForm(attribute), slotCount: entity.rowSlotCount)
      if !value.isNull { values[name] = value }
    }
    for property in entity.properties {
      if let attribute = property.attribute, attribute.type != .composite { take(property.slot, attribute, property.name) }
      for element in property.elements { take(element.slot, element.attribute, element.path.joined(separator: ".")) }
      if property.isToOne, !snapshot.isNull(property.slot, of: entity.rowSlotCount) {
        values[property.name] = .integer(snapshot.integer(property.slot))
        if let slot = property.entityNumberSlot, !snapshot.isNull(slot, of: entity.rowSlotCount) {
          values[property.name + ".entity"] = .string(model.entities[Int(snapshot.integer(slot)) - 1].name)
        }
      }
    }
    return values
  }
}

extension RowWrites {
  init(
    inserts: [Insert] = [], updates: [Update] = [], deletes: [RowVersion] = [], links: [Link] = [],
    orderings: [Ordering] = []
  ) {
    self.init()
    self.inserts = inserts
    self.updates = updates
    self.deletes = deletes
    self.links = links
    self.orderings = orderings
  }
}
