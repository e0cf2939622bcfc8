import Foundation
import PersistTestSupport

@testable import Persist
@testable import PersistCore
@testable import PersistModel

extension MadeStore {
  /// Fills a store with related rows for every concrete entity, by SQL alone. Equal seeds yield equal rows.
  static func fill(_ model: ManagedObjectModel, at url: URL, rows: Int, seed: UInt64) throws {
    let store = try RawStore(url)
    defer { store.close() }
    var numbers = SeededRandom(seed: seed)
    let map = try store.catalog().tableMap(of: model)
    try store.transaction {
      var keys: [String: [(key: Int64, number: Int)]] = [:]
      var next: [String: Int64] = [:]
      for place in map.tables where !place.entity.isAbstract {
        for _ in 0..<rows {
          next[place.table, default: 0] += 1
          var entity: Entity? = place.entity
          while let current = entity {
            keys[current.name, default: []].append((next[place.table] ?? 0, place.number))
            entity = current.superentity
          }
          try insert(place, key: next[place.table] ?? 0, store, &numbers)
        }
      }
      var relations = RandomRelations(map: map, keys: keys, numbers: numbers)
      try relations.make(store)
      for (table, maximum) in next {
        let root = map.tables.first { $0.table == table && $0.entity.superentity == nil }
        guard let root else { continue }
        try store.raiseKeys(of: table, number: root.number, to: maximum)
      }
    }
    let location = StoreLocation(url)
    let connection = try location.engine.connect(to: location, options: StoreOptions())
    defer { connection.close() }
    try connection.transaction {
      try connection.updateDerivedTriggers(map.possibleDerivedColumns, in: map.layout, after: [])
    }
  }

  private static func insert(
    _ place: TableMap.EntityTable, key: Int64, _ store: RawStore, _ numbers: inout SeededRandom
  ) throws {
    var columns = ["Z_PK", "Z_ENT", "Z_OPT"]
    var values: [SQLValue] = [
      .integer(key), .integer(Int64(place.number)), .integer(Int64.random(in: 1...9, using: &numbers)),
    ]
    for column in place.columns {
      guard case .attribute(let attribute) = column.role else { continue }
      let isMissing = attribute.isOptional && Int.random(in: 0..<4, using: &numbers) == 0
      // A composite value without elements is missing.
      let property = place.entity.property(named: column.property)
      let isNeeded = property?.attribute?.isOptional == false && property?.elements.first?.slot == column.slot
      if isMissing, !isNeeded { continue }
      columns.append(column.name)
      values.append(value(of: attribute, key, &numbers))
    }
    try store.execute("INSERT INTO \(name: place.table) (\(names: columns)) VALUES (\(values: values))")
  }

  private static func value(
    of attribute: AttributeDescription, _ key: Int64, _ numbers: inout SeededRandom
  ) -> SQLValue {
    let number = Int64.random(in: 0...30000, using: &numbers)
    return switch attribute.type {
    case .int16, .int32, .int64: .integer(number)
    case .boolean: .integer(number & 1)
    case .decimal: .double(Double(number) + 0.25)
    case .double, .float: .double(Double(number) + 0.5)
    case .date: .double(Double(number) + 0.125)
    case .string: .text("\(attribute.name) \(key) \(number)")
    case .uri: .text("https://example.org/\(key)/\(number)")
    case .binary, .transformable:
      .blob(Data((attribute.storesMarkedBytes ? [1] : []) + [UInt8(key & 255), UInt8(number & 255), 0, 7]))
    case .uuid: .blob(Data((0..<16).map { _ in UInt8.random(in: 0...255, using: &numbers) }))
    case .composite, .objectID, .undefined: .null
    }
  }
}
