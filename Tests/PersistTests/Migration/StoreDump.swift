import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Every value of a store by entity, key and property, read by SQL: the contents that a migration must keep.
struct StoreDump: Equatable {
  /// To-many relationships as `Entity:key`, in order if they are ordered, otherwise sorted.
  private(set) var objects: [String: [Int64: [String: String]]] = [:]

  init(of model: ManagedObjectModel, at url: URL) throws {
    let store = try RawStore(url, mode: .readOnly)
    defer { store.close() }
    let map = try store.catalog().tableMap(of: model)
    try #require(map.differences == [])
    for place in map.tables where !place.entity.isAbstract {
      var rows: [Int64: [String: String]] = [:]
      let sql: SQLText = "SELECT * FROM \(name: place.table) WHERE Z_ENT = \(number: Int64(place.number))"
      for row in try store.rows(sql) {
        var values = ["Z_OPT": Self.text(row.value(named: "Z_OPT") ?? .null)]
        for column in place.columns where column.role != .toOneEntity {
          guard let value = row.value(named: column.name)?.stored(as: column.type) else { continue }
          values[Self.key(of: column, in: place.entity)] = value == .null ? nil : Self.text(value)
        }
        rows[row.value(named: "Z_PK")?.integerValue ?? 0] = values
      }
      for (slot, members) in place.toMany {
        for (owner, list) in try Self.members(members, store) where rows[owner] != nil {
          rows[owner]?[place.entity.properties[slot].name] = list
        }
      }
      objects[place.entity.name] = rows
    }
  }

  /// The property's name, or the path of an element of a composite one.
  private static func key(of column: TableMap.Column, in entity: Entity) -> String {
    entity.property(named: column.property)?.elements.first { $0.slot == column.slot }?.path.joined(separator: ".")
      ?? column.property
  }

  private static func text(_ value: SQLValue) -> String {
    switch value {
    case .null: "nil"
    case .integer(let value): String(value)
    case .double(let value): String(value)
    case .text(let value): value
    case .blob(let value): value.map { String($0, radix: 16) }.joined(separator: ".")
    }
  }

  private static func members(_ place: TableMap.ToMany, _ store: RawStore) throws -> [Int64: String] {
    let sql: SQLText
    switch place {
    case .foreignKey(let key):
      sql = """
        SELECT \(name: key.column), Z_PK FROM \(name: key.table) WHERE \(name: key.column) IS NOT NULL \
        ORDER BY \(name: key.orderColumn ?? "Z_PK"), Z_PK
        """
    case .join(let end):
      sql = """
        SELECT \(name: end.ownColumn), \(name: end.memberColumn) FROM \(name: end.table) \
        ORDER BY \(name: end.orderColumn ?? end.memberColumn), \(name: end.memberColumn)
        """
    }
    var lists: [Int64: [String]] = [:]
    for row in try store.rows(sql) { lists[row.integer(0), default: []].append(text(row.values[1])) }
    return lists.mapValues { $0.joined(separator: " ") }
  }

  /// The expected contents of this store after a migration: values under their new names, new ones with their defaults.
  func migrated(by comparison: ModelComparison) -> StoreDump {
    let correspondence = comparison.correspondence
    var result = self
    result.objects = [:]
    for entity in comparison.new.entities where !entity.isAbstract {
      var rows: [Int64: [String: String]] = [:]
      let source = correspondence.entities[entity.name]
      for (key, values) in source.flatMap({ objects[$0] }) ?? [:] {
        var row = ["Z_OPT": values["Z_OPT"] ?? ""]
        for property in entity.properties where !property.isTransient && property.attribute?.isDerived != true {
          let origin = correspondence.origin(of: property.name, in: entity.name)
          if let relationship = property.relationship {
            guard let name = origin?.source, let before = comparison.source(of: entity)?.relationship(named: name),
              comparison.destinationChange(from: before, to: relationship) != .parted
            else { continue }
            row[property.name] = values[name].flatMap {
              Self.members($0, of: relationship, kept(relationship, comparison))
            }
          } else if property.attribute?.type == .composite {
            for element in property.elements {
              guard let old = origin?.source else { continue }
              let path = ([old] + element.path.dropFirst()).joined(separator: ".")
              row[element.path.joined(separator: ".")] = values[path]
            }
          } else {
            let value = origin?.source.flatMap { values[$0] }
            let isReal = property.attribute?.type == .double || property.attribute?.type == .float
            let bytes = Self.marked(value, property, comparison.source(of: entity), origin)
            row[property.name] = bytes.map { isReal ? Double($0).map { String($0) } ?? $0 : $0 }
              ?? Self.text(origin?.fill, property)
          }
        }
        rows[key] = row
      }
      result.objects[entity.name] = rows
    }
    result.addInverses(in: comparison)
    return result
  }

  /// The contents of the new inverse of an existing relationship: every object that refers to this one.
  private mutating func addInverses(in comparison: ModelComparison) {
    let correspondence = comparison.correspondence
    for entity in comparison.new.entities where !entity.isAbstract {
      for relationship in entity.relationships
      where !relationship.isTransient && correspondence.origin(of: relationship.name, in: entity.name)?.source == nil {
        guard let inverse = comparison.new.inverse(of: relationship) else { continue }
        var members: [Int64: [Int64]] = [:]
        for other in comparison.new.hierarchy(of: comparison.new.destination(of: relationship)) {
          for (key, values) in objects[other.name] ?? [:] {
            for owner in (values[inverse.name] ?? "").split(separator: " ").compactMap({ Int64($0) }) {
              members[owner, default: []].append(key)
            }
          }
        }
        for (owner, list) in members where objects[entity.name]?[owner] != nil {
          objects[entity.name]?[owner]?[relationship.name] = list.sorted().map { String($0) }.joined(separator: " ")
        }
      }
    }
  }

  /// The bytes of a value whose external storage is enabled have a mark before them, which others don't.
  private static func marked(
    _ value: String?, _ property: Property, _ source: Entity?, _ origin: ModelCorrespondence.Origin?
  ) -> String? {
    guard let value, let before = origin?.source.flatMap({ source?.attribute(named: $0) }) else { return value }
    switch (before.storesMarkedBytes, property.attribute?.storesMarkedBytes) {
    case (false, true?): return "1.\(value)"
    case (true, false?): return String(value.dropFirst(2))
    default: return value
    }
  }

  /// The keys that a relationship can refer to afterward.
  private func kept(_ relationship: RelationshipDescription, _ comparison: ModelComparison) -> Set<Int64> {
    let entities = comparison.new.hierarchy(of: comparison.new.destination(of: relationship))
    return Set(entities.compactMap { comparison.source(of: $0) }.flatMap { objects[$0.name]?.keys.map { $0 } ?? [] })
  }

  private static func members(
    _ list: String, of relationship: RelationshipDescription, _ kept: Set<Int64>
  ) -> String? {
    var keys = list.split(separator: " ").compactMap { Int64($0) }.filter(kept.contains)
    if !relationship.isOrdered { keys.sort() }
    return keys.isEmpty ? nil : keys.map(String.init).joined(separator: " ")
  }

  private static func text(_ fill: StoredValue?, _ property: Property) -> String? {
    guard let attribute = property.attribute, let fill, let value = SQLValue(fill, of: attribute) else { return nil }
    return switch value {
    case .null: nil
    case .integer(let value):
      attribute.type == .double || attribute.type == .float ? String(Double(value)) : String(value)
    case .double(let value): attribute.type == .date && value == value.rounded() ? String(Int64(value)) : String(value)
    case .text(let value): value
    case .blob(let value): value.map { String($0, radix: 16) }.joined(separator: ".")
    }
  }

  /// The same without the version counters of rows, which restart for newly created objects.
  var withoutVersions: StoreDump {
    var result = self
    result.objects = objects.mapValues { $0.mapValues { values in values.filter { $0.key != "Z_OPT" } } }
    return result
  }

  /// The same without values computed by the store itself.
  func withoutDerived(_ model: ManagedObjectModel) -> StoreDump {
    var result = self
    for entity in model.entities {
      let names = Set(entity.attributes.filter(\.isDerived).map(\.name))
      result.objects[entity.name] = objects[entity.name]?.mapValues { $0.filter { !names.contains($0.key) } }
    }
    return result
  }

  /// The same with one name for all files of large values: a copy object by object writes them anew.
  var withoutFileNames: StoreDump {
    var result = self
    result.objects = objects.mapValues { rows in
      rows.mapValues { values in values.mapValues { $0.hasPrefix("2.") && $0.hasSuffix(".0") ? "file" : $0 } }
    }
    return result
  }

  /// The same without the order of members.
  func unordered(_ model: ManagedObjectModel) -> StoreDump {
    var result = self
    for entity in model.entities {
      for name in entity.relationships.map(\.name) {
        result.objects[entity.name] = result.objects[entity.name]?.mapValues { values in
          var values = values
          values[name] = values[name].map { $0.split(separator: " ").sorted().joined(separator: " ") }
          return values
        }
      }
    }
    return result
  }

  /// A few lines of the differences between two dumps.
  func differences(from other: StoreDump) -> [String] {
    var lines: [String] = []
    for (entity, rows) in objects.sorted(by: { $0.key < $1.key }) {
      let others = other.objects[entity] ?? [:]
      if rows.count != others.count { lines.append("\(entity): \(rows.count) rows, expected \(others.count)") }
      for (key, values) in rows.sorted(by: { $0.key < $1.key }) where others[key] != values {
        for name in Set(values.keys).union((others[key] ?? [:]).keys).sorted()
        where values[name] != others[key]?[name] {
          lines.append("\(entity) \(key).\(name): \(values[name] ?? "nil"), expected \(others[key]?[name] ?? "nil")")
        }
      }
    }
    return Array(lines.prefix(12))
  }
}
