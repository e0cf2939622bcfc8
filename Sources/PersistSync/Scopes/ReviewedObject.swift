import Foundation
import Persist

/// The objects of a store as they would be after writes that haven't happened.
final class ReviewedRows {
  let coordinator: PersistentStoreCoordinator
  let context: ManagedObjectContext
  let model: ManagedObjectModel
  /// The changed values of rows by slot.
  private(set) var values: [ManagedObjectID: [Int: StoredValue]] = [:]
  private var inserted: Set<ManagedObjectID> = []
  private(set) var deleted: Set<ManagedObjectID> = []
  private var links: [RowWrites.Link] = []

  init(_ writes: RowWrites, _ step: SyncStep, _ coordinator: PersistentStoreCoordinator) {
    self.coordinator = coordinator
    context = ManagedObjectContext(coordinator)
    model = step.model
    func id(_ entity: Entity, _ key: ManagedObjectID.Key) -> ManagedObjectID {
      ManagedObjectID(entityName: entity.name, storeIdentifier: step.store.store.identifier, key: key)
    }
    for insert in writes.inserts {
      let id = id(insert.entity, insert.key)
      inserted.insert(id)
      values[id] = [:]
      for slot in insert.entity.properties.indices { values[id]?[slot] = insert.value(at: slot) }
    }
    for update in writes.updates {
      let id = id(update.entity, update.key)
      for slot in update.slots { values[id, default: [:]][slot] = update.values[slot] ?? .null }
    }
    for delete in writes.deletes { deleted.insert(id(delete.entity, delete.key)) }
    links = writes.links
  }

  func isInserted(_ id: ManagedObjectID) -> Bool { inserted.contains(id) }

  /// The object as it would be; nil if there would be none.
  func object(_ id: ManagedObjectID) -> ReviewedObject? {
    guard !deleted.contains(id), let entity = model.entitiesByName[id.entityName] else { return nil }
    return ReviewedObject(rows: self, id: id, entity: entity)
  }

  /// The object as it is in the store.
  func present(_ id: ManagedObjectID) throws -> ManagedObject? {
    if inserted.contains(id) { return nil }
    do {
      return try context.existingObject(with: id)
    } catch let error as PersistenceError where error.code == .objectNotFound {
      return nil
    }
  }

  /// The members of a to-many relationship.
  func members(_ property: Property, of object: ReviewedObject) throws -> [ManagedObjectID] {
    var members: [ManagedObjectID] = []
    if let present = try present(object.id), case .collection(let all) = try present.fetchValue(forKey: property.name) {
      members = all.compactMap { $0.objectID }
    }
    guard let relationship = property.relationship else { return members }
    let inverse = model.inverse(of: relationship)
    if inverse?.isToMany == false {
      for (id, slots) in values {
        guard let slot = model.entitiesByName[id.entityName]?.property(named: inverse?.name ?? "")?.slot,
          let value = slots[slot]
        else { continue }
        members.removeAll { $0 == id }
        if value == .objectID(object.id) { members.append(id) }
      }
    }
    for link in links {
      let name = link.entity.properties[link.slot].name
      if link.owner == object.id, name == property.name {
        members = members.filter { !link.removed.contains($0) } + link.added
      } else if name == inverse?.name {
        if link.removed.contains(object.id) { members.removeAll { $0 == link.owner } }
        if link.added.contains(object.id) { members.append(link.owner) }
      }
    }
    return members.filter { !deleted.contains($0) }
  }
}

/// An object as it would be after writes that haven't happened, for predicates.
struct ReviewedObject: KeyedObject {
  let rows: ReviewedRows
  let id: ManagedObjectID
  let entity: Entity

  var fetchIdentity: StoredValue { .objectID(id) }
  var fetchEntityName: String? { entity.name }

  func hasProperty(named name: String) -> Bool { entity.property(named: name) != nil }

  func fetchValue(forKey key: String) throws -> FetchValue {
    guard let property = entity.property(named: key) else {
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, key), "'\(entity.name)' has no property '\(key)'.",
        fix: "Correct the rule of the scope.")
    }
    if property.relationship?.isToMany == true {
      return .collection(try rows.members(property, of: self).compactMap { rows.object($0).map(FetchValue.object) })
    }
    if let value = rows.values[id]?[property.slot] { return self.value(value) }
    if rows.isInserted(id) { return .null }
    guard let present = try rows.present(id) else { return .null }
    let value = try present.fetchValue(forKey: key)
    return value.objectID.map { self.value(.objectID($0)) } ?? value
  }

  private func value(_ value: StoredValue) -> FetchValue {
    guard case .objectID(let id) = value else { return .value(value) }
    return rows.object(id).map(FetchValue.object) ?? .null
  }

  func keys(of reference: KeyPathReference) throws -> [String] {
    let scratch = ManagedObjectContext(rows.coordinator)
    return try scratch.create(entity.name).keys(of: reference)
  }

  func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher {
    if let present = try rows.present(id) { return try present.fullTextMatcher(forKeys: keys) }
    let scratch = ManagedObjectContext(rows.coordinator)
    return try scratch.create(entity.name).fullTextMatcher(forKeys: keys)
  }
}

extension FetchValue {
  /// The identifier of a managed object.
  var objectID: ManagedObjectID? {
    if case .object(let object) = self, case .objectID(let id) = object.fetchIdentity { id } else { nil }
  }
}
