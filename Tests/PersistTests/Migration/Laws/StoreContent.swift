import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The contents of a store, read with plain SQL: values by entity and key, and relationships as pairs of objects.
struct StoreContent: Equatable {
  /// A row, by its entity and key.
  struct Object: Hashable, CustomStringConvertible {
    let entity: String
    let key: Int64
    var description: String { "\(entity) \(key)" }
  }

  struct Pair: Hashable, CustomStringConvertible {
    let owner: Object
    let member: Object
    var turned: Pair { Pair(owner: member, member: owner) }
    var description: String { "\(owner) – \(member)" }
  }

  /// The stored values of every object, without null; by attribute, or by the path of an element.
  private(set) var values: [Object: [String: SQLValue]] = [:]
  /// By entity and relationship, including inherited ones.
  private(set) var pairs: [String: [String: Set<Pair>]] = [:]
  /// The members of ordered relationships in their order.
  private(set) var lists: [Object: [String: [Int64]]] = [:]

  init(of model: ManagedObjectModel, at url: URL) throws {
    let store = try RawStore(url, mode: .readOnly)
    defer { store.close() }
    let map = try store.catalog().tableMap(of: model)
    try #require(map.differences == [])
    var objects: [String: [Int64: Object]] = [:]
    for place in map.tables where !place.entity.isAbstract {
      let sql: SQLText = "SELECT * FROM \(name: place.table) WHERE Z_ENT = \(number: Int64(place.number))"
      for row in try store.rows(sql) {
        let object = Object(entity: place.entity.name, key: row.value(named: "Z_PK")?.integerValue ?? 0)
        objects[place.table, default: [:]][object.key] = object
        var found: [String: SQLValue] = [:]
        for column in place.columns {
          guard case .attribute = column.role, let value = row.value(named: column.name)?.stored(as: column.type),
            value != .null
          else { continue }
          let elements = place.entity.property(named: column.property)?.elements
          let path = elements?.first { $0.slot == column.slot }?.path.joined(separator: ".")
          found[path ?? column.property] = value
        }
        values[object] = found
      }
    }
    for place in map.tables where !place.entity.isAbstract {
      for property in place.entity.properties {
        guard let relationship = property.relationship, !relationship.isTransient else { continue }
        let table = map[model.destination(of: relationship)].table
        pairs[place.entity.name, default: [:]][property.name] = []
        for row in try store.rows(#require(Self.sql(property, place))) {
          guard let owner = objects[place.table]?[row.integer(0)], owner.entity == place.entity.name,
            let member = objects[table]?[row.integer(1)]
          else { continue }
          pairs[place.entity.name]?[property.name]?.insert(Pair(owner: owner, member: member))
          if relationship.isOrdered { lists[owner, default: [:]][property.name, default: []].append(member.key) }
        }
      }
    }
  }

  private static func sql(_ property: Property, _ place: TableMap.EntityTable) -> SQLText? {
    switch place.toMany[property.slot] {
    case .foreignKey(let key):
      return """
        SELECT \(name: key.column), Z_PK FROM \(name: key.table) WHERE \(name: key.column) IS NOT NULL \
        ORDER BY \(name: key.orderColumn ?? "Z_PK"), Z_PK
        """
    case .join(let end):
      return """
        SELECT \(name: end.ownColumn), \(name: end.memberColumn) FROM \(name: end.table) \
        ORDER BY \(name: end.orderColumn ?? end.memberColumn), \(name: end.memberColumn)
        """
    case nil:
      let key = place.columns.first { $0.slot == property.slot && $0.role == .toOne }
      return key.map { "SELECT Z_PK, \(name: $0.name) FROM \(name: place.table) WHERE \(name: $0.name) IS NOT NULL" }
    }
  }

  /// The pairs of an entity's relationship.
  func pairs(_ entity: String, _ relationship: String) -> Set<Pair> { pairs[entity]?[relationship] ?? [] }

  /// The same without values computed by the store itself, and without the names of files: the methods of migration may
  /// differ in these.
  func comparable(_ model: ManagedObjectModel) -> StoreContent {
    var result = self
    for (object, found) in values {
      let entity = model.entitiesByName[object.entity]
      result.values[object] = found.filter { name, _ in entity?.attribute(named: name)?.isDerived != true }
        .mapValues { value in
          // A whole number in a column of reals is the same number.
          if case .integer(let number) = value, let double = Double(exactly: number) { return .double(double) }
          return value
        }
    }
    return result
  }

  /// A few lines of the differences between two stores.
  func differences(from other: StoreContent) -> [String] {
    var lines: [String] = []
    for object in Set(values.keys).union(other.values.keys) where values[object] != other.values[object] {
      lines.append("\(object): \(values[object] ?? [:]), expected \(other.values[object] ?? [:])")
    }
    for entity in Set(pairs.keys).union(other.pairs.keys) {
      let names = Set((pairs[entity] ?? [:]).keys).union((other.pairs[entity] ?? [:]).keys)
      for name in names where pairs(entity, name) != other.pairs(entity, name) {
        let (found, wanted) = (pairs(entity, name), other.pairs(entity, name))
        lines.append("\(entity).\(name): added \(found.subtracting(wanted)), missing \(wanted.subtracting(found))")
      }
    }
    for object in Set(lists.keys).union(other.lists.keys) where lists[object] != other.lists[object] {
      lines.append("\(object): in order \(lists[object] ?? [:]), expected \(other.lists[object] ?? [:])")
    }
    return Array(lines.sorted().prefix(8))
  }
}
