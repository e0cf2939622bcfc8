import Foundation
import Persist

/// Copies the objects of documents to stores and back.
enum DocumentContents {
  /// The number of objects that are inserted at once.
  private static let sliceSize = 500

  /// Everything that a store contains.
  static func document(of store: any PersistentStore) throws -> StoreDocument {
    var document = StoreDocument(identifier: store.identifier, model: store.model.description)
    document.metadata = try store.metadata().values.filter { !StoreMetadata.Key.own.contains($0.key) }
    for root in store.model.entities where root.superentity == nil {
      let key = try store.greatestAssignedKey(inHierarchyOf: root)
      if key > 0 { document.lastKeys[root.name] = key }
    }
    let transfer = StoreTransfer(store, to: store.identifier)
    while let slice = try transfer.next() {
      for (index, insert) in slice.inserts.enumerated() {
        guard case .permanent(let key) = insert.key else { continue }
        var object = StoreDocument.Object(entity: insert.entity.name, key: key, version: insert.version)
        for property in insert.entity.properties {
          switch insert.values[property.slot] {
          case nil, .null?: continue
          case .objectID(let id)? where property.relationship != nil:
            object.references[property.name] = id.primaryKey.map {
              StoreDocument.Reference(entity: id.entityName, key: $0)
            }
          case let value?: object.values[property.name] = value
          }
        }
        for members in slice.members[index] {
          object.members[insert.entity.properties[members.slot].name] = members.keys
        }
        document.objects.append(object)
      }
    }
    return document
  }

  /// Inserts a document's objects into an empty store of its model.
  static func insert(_ document: StoreDocument, into store: any PersistentStore) throws {
    var rest = document.objects[...]
    _ = try store.insert(slices: {
      guard !rest.isEmpty else { return nil }
      let slice = try Self.slice(rest.prefix(sliceSize), for: store)
      rest = rest.dropFirst(sliceSize)
      return slice
    })
    var keys: [Int: Int64] = [:]
    for (name, key) in document.lastKeys {
      guard let root = store.model.entitiesByName[name], root.superentity == nil else {
        throw malformed("There is no root entity '\(name)' for the key \(key).", .entity(name))
      }
      keys[root.index] = key
    }
    if !keys.isEmpty { try store.retireKeys(upTo: keys) }
    guard !document.metadata.isEmpty else { return }
    var metadata = try store.metadata()
    metadata.values.merge(document.metadata) { own, _ in own }
    try store.setMetadata(metadata)
    try store.savePendingMetadata()
  }

  private static func slice(
    _ objects: ArraySlice<StoreDocument.Object>, for store: any PersistentStore
  ) throws -> ImportSlice {
    var slice = ImportSlice()
    for object in objects {
      guard let entity = store.model.entitiesByName[object.entity], !entity.isAbstract, object.key > 0 else {
        throw malformed(
          "'\(object.entity)' with the key \(object.key) isn't an object of the document's model.",
          .entity(object.entity))
      }
      func property(_ name: String) throws -> Property {
        guard let property = entity.property(named: name), !property.isTransient else {
          throw malformed("'\(entity.name)' has no stored property '\(name)'.", .property(entity.name, name))
        }
        return property
      }
      var values = SlotValues()
      for (name, value) in object.values {
        let property = try property(name)
        guard let attribute = property.attribute else {
          throw malformed("'\(name)' isn't an attribute.", .property(entity.name, name))
        }
        if attribute.isDerived { continue }
        if attribute.type == .composite {
          guard case .composite = value else {
            throw malformed("The value of '\(name)' has no elements.", .property(entity.name, name))
          }
          values[property.slot] = value
        } else {
          values[property.slot] = try ValueConversion(attribute, at: .property(entity.name, name)).stored(value)
        }
      }
      for (name, reference) in object.references {
        let property = try property(name)
        guard property.isToOne else {
          throw malformed("'\(name)' isn't a to-one relationship.", .property(entity.name, name))
        }
        values[property.slot] = .objectID(
          ManagedObjectID(
            entityName: reference.entity, storeIdentifier: store.identifier, key: .permanent(reference.key)))
      }
      slice.inserts.append(
        RowWrites.Insert(
          key: .permanent(object.key), entity: entity, values: values, version: max(1, object.version)))
      slice.members.append(
        try object.members.sorted { $0.key < $1.key }.map { name, keys in
          let property = try property(name)
          guard property.isToMany else {
            throw malformed("'\(name)' isn't a to-many relationship.", .property(entity.name, name))
          }
          return ImportSlice.Members(slot: property.slot, keys: keys)
        })
    }
    return slice
  }

  private static func malformed(_ message: String, _ place: PersistenceError.Place) -> PersistenceError {
    PersistenceError(
      .malformedFile, at: place, "The document is damaged: \(message)", fix: "Restore the document from a backup.")
  }
}
