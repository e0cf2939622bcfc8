import Foundation
import Persist

/// The store, its facts and its model during one step of a synchronization.
final class SyncStep {
  let store: SyncStore
  let tables: SyncTables
  let map: ModelMap
  let history: any StoreHistory
  /// The name of the store in the identities of objects.
  let storeName: String
  private var rows: [SyncTables.RowID: SyncStore.Row] = [:]
  /// The objects whose rows refer to a row, by this row.
  var referring: [SyncTables.RowID: Set<Identity>] = [:]

  var schema: SyncSchema { store.schema }
  var model: ManagedObjectModel { store.model }

  init(
    _ store: SyncStore, _ history: any StoreHistory, tag: ModelTag, registry: ModelRegistry?,
    mappings: VersionMappings, known: KnownVersions, storeName: String
  ) throws {
    let tables = try SyncTables(history)
    (self.store, self.tables, self.history, self.storeName) = (store, tables, history, storeName)
    map = ModelMap(store.model, tag, registry: registry, mappings: mappings, known: known) { try tables.models() }
  }

  /// The own entity of an object that exists; nil if it was deleted, or the model has no place for it.
  func entity(of object: ObjectFacts) throws -> Entity? {
    guard object.exists, let entity = try map.entity(of: object), !entity.isAbstract else { return nil }
    return entity
  }

  /// The identity of a row by its identifying value; nil if there is none.
  func identifier(of row: SyncStore.Row) throws -> Identity? {
    guard let (entity, attribute) = schema[row.entity].identifier else { return nil }
    let value = try store.value(attribute, in: row)
    return value.isNull ? nil : Identity(value, of: entity)
  }

  /// Reads rows, each at most once in a step; those that don't exist are missing.
  func rows(_ ids: [SyncTables.RowID]) throws -> [SyncTables.RowID: SyncStore.Row] {
    let unread = ids.filter { rows[$0] == nil }
    for (name, ids) in Dictionary(grouping: unread, by: \.entity) {
      guard let entity = model.entitiesByName[name] else { continue }
      let found = try store.rows(of: entity, ids.map(\.key))
      for id in ids { rows[id] = found[id.key] }
    }
    var found: [SyncTables.RowID: SyncStore.Row] = [:]
    for id in ids { found[id] = rows[id] }
    return found
  }

  /// Adds rows that have been read.
  func keep(_ read: [SyncTables.RowID: SyncStore.Row]) { rows.merge(read) { _, new in new } }

  /// The positions of members in an ordered relationship of a row that is several objects, perhaps.
  func places(_ name: String, of owners: [Identity], in entity: Entity) throws -> [Identity: [Register]] {
    var places: [Identity: [Register]] = [:]
    for identity in owners {
      let object = try tables.facts(of: identity)
      for (property, members) in object.places where try map.name(of: property, in: entity) == name {
        for (member, register) in members where register.life == object.count {
          places[member, default: []].append(register)
        }
      }
    }
    return places
  }

  /// The last position of a member in its present life, among those of all objects that are its row.
  func place(of member: [Identity], in places: [Identity: [Register]]) throws -> Register? {
    var last: Register?
    for identity in member {
      guard let registers = places[identity] else { continue }
      let count = try tables.facts(of: identity).count
      for register in registers where register.otherLife == count {
        if last.map({ Register.isLater(register, than: $0) }) ?? true { last = register }
      }
    }
    return last
  }

  /// The registers of an object's present life by the own names of their properties, the latest first.
  ///
  /// - Parameter former: Another version; only those are returned that have a place in it. Nil for all.
  func registers(
    of object: ObjectFacts, in entity: Entity, visibleIn former: ModelMap? = nil
  ) throws -> [String: [Register]] {
    var found: [String: [Register]] = [:]
    found.reserveCapacity(object.values.count)
    var values = object.values
    if let former {
      let entity = try former.entity(of: object)
      values = try values.filter { property, _ in try entity.flatMap { try former.name(of: property, in: $0) } != nil }
    }
    for (property, register) in values where register.life == object.count {
      if let name = try map.name(of: property, in: entity) { found[name, default: []].append(register) }
    }
    if !map.mappings.isEmpty {
      for (property, parts) in object.parts {
        values[property] = values[property]?.merged(with: parts.values(ofLife: object.count))
      }
      for (property, register) in try map.computedValues(of: object, values) {
        if let name = try map.name(of: property, in: entity) { found[name, default: []].append(register) }
      }
    }
    if !object.owners.isEmpty { try addInverses(of: object, in: entity, to: &found) }
    for (name, registers) in found where registers.count > 1 {
      found[name] = registers.sorted { Register.isLater($0, than: $1) }
    }
    for (name, registers) in found where registers.contains(where: \.isLarge) {
      found[name] = try registers.map { register in
        var register = register
        register.content = try tables.resolved(register.content)
        return register
      }
    }
    if !object.parts.isEmpty { try mergeMembers(of: object, in: entity, to: &found, visibleIn: former) }
    return found
  }

  /// The last statement about the present lives of two objects of a many-to-many relationship, by either of them; nil
  /// for none.
  func pair(
    _ relationship: SyncSchema.Relationship, _ owner: ObjectFacts, _ member: ObjectFacts
  ) throws -> Register? {
    var last: Register?
    func consider(_ object: ObjectFacts, _ other: ObjectFacts, _ name: String) throws {
      guard let entity = try entity(of: object) else { return }
      for (property, members) in object.members where try map.name(of: property, in: entity) == name {
        guard let found = members[other.identity], found.life == object.count, found.otherLife == other.count
        else { continue }
        if last.map({ Register.isLater(found, than: $0) }) ?? true { last = found }
      }
    }
    try consider(owner, member, relationship.name)
    if let inverse = relationship.inverse { try consider(member, owner, inverse.name) }
    return last
  }

  /// The objects with which an object may form pairs of a relationship.
  func candidates(_ relationship: SyncSchema.Relationship, of object: ObjectFacts, in entity: Entity) throws
    -> Set<Identity>
  {
    var all: Set<Identity> = []
    for (property, members) in object.members where try map.name(of: property, in: entity) == relationship.name {
      all.formUnion(members.keys)
    }
    for other in try tables.owners(of: object.identity) where !all.contains(other) {
      if try tables.facts(of: other).members.contains(where: { $0.value[object.identity] != nil }) { all.insert(other) }
    }
    return all
  }
}

extension Register {
  static let present = Data([1])
  static let absent = Data([0])
  var isPresent: Bool { content == Self.present }
  var isLarge: Bool { PortableValue.large(content) != nil }
}
