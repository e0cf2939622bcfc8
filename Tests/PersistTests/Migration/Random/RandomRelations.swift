import PersistTestSupport

@testable import Persist
@testable import PersistModel

/// Relates the rows of a store to each other at random, by SQL alone.
struct RandomRelations {
  typealias Row = (key: Int64, number: Int)

  let map: TableMap
  /// The rows of each entity, including those of its subentities.
  let keys: [String: [Row]]
  var numbers: SeededRandom
  /// Rows that already have their only partner, by relationship.
  private var paired: [[String]: Set<Int64>] = [:]
  /// The number of assigned positions in orders: no two are the same.
  private var serial: Int64 = 0

  init(map: TableMap, keys: [String: [Row]], numbers: SeededRandom) {
    self.map = map
    self.keys = keys
    self.numbers = numbers
  }

  mutating func make(_ store: RawStore) throws {
    for place in map.tables where !place.entity.isAbstract {
      let own = (keys[place.entity.name] ?? []).filter { $0.number == place.number }
      for property in place.entity.properties where !property.isTransient {
        guard let relationship = property.relationship, let others = keys[relationship.destination], !others.isEmpty
        else { continue }
        let inverse = map.model.inverse(of: relationship)
        switch place.toMany[property.slot] {
        case .join(let end): try join(own, others, by: end, store)
        case .foreignKey(let key) where inverse == nil: try gather(own, others, by: key, store)
        case .foreignKey: break
        case nil where inverse?.isToMany == false:
          let isRequired = !relationship.isOptional || inverse?.isOptional == false
          try pair(own, others, by: property, inverse?.name ?? "", isRequired: isRequired, store)
        case nil:
          for row in own { try set(property.name, of: row, to: any(of: others), store) }
        }
      }
    }
  }

  private mutating func any(of rows: [Row]) -> Row { rows[Int.random(in: rows.indices, using: &numbers)] }

  /// A position in an order, different from that of the keys.
  private mutating func nextOrder() -> Int64 {
    serial += 1
    return Int64.random(in: 1...99, using: &numbers) * 1_000_000 + serial
  }

  private mutating func join(
    _ own: [Row], _ others: [Row], by end: TableMap.JoinEnd, _ store: RawStore
  ) throws {
    for row in own {
      let member = any(of: others)
      let order = nextOrder()
      for (one, other) in end.isReflexive ? [(row, member), (member, row)] : [(row, member)] {
        var values = [end.ownColumn: SQLValue.integer(one.key), end.memberColumn: .integer(other.key)]
        for column in [end.orderColumn, end.inverseOrderColumn].compactMap({ $0 }) { values[column] = .integer(order) }
        let columns = values.sorted { $0.key < $1.key }
        try store.execute(
          """
          INSERT OR IGNORE INTO \(name: end.table) (\(names: columns.map(\.key))) \
          VALUES (\(values: columns.map(\.value)))
          """)
      }
    }
  }

  /// Members of a to-many relationship without an inverse name their owner.
  private mutating func gather(
    _ own: [Row], _ others: [Row], by key: TableMap.ForeignKey, _ store: RawStore
  ) throws {
    for row in own {
      try update(
        key.table, any(of: others).key,
        [(key.column, row.key), (key.entityColumn, Int64(row.number)), (key.orderColumn, nextOrder())], store)
    }
  }

  /// Two rows name each other, and no other row.
  ///
  /// - Parameter isRequired: Whether every row needs a partner, as far as there are enough. Otherwise some have none.
  private mutating func pair(
    _ own: [Row], _ others: [Row], by property: Property, _ inverse: String, isRequired: Bool, _ store: RawStore
  ) throws {
    let name = [property.declaringEntity, property.name]
    for row in own where paired[name]?.contains(row.key) != true {
      let candidates = !isRequired ? others : others.filter { other in
        guard let target = map.table(ofNumber: other.number)?.entity.property(named: inverse) else { return false }
        let back = [target.declaringEntity, target.name]
        return paired[back]?.contains(other.key) != true && (name != back || row.key != other.key)
      }
      guard !candidates.isEmpty else { continue }
      let other = any(of: candidates)
      guard let target = map.table(ofNumber: other.number)?.entity.property(named: inverse) else { continue }
      let back = [target.declaringEntity, target.name]
      guard paired[back]?.contains(other.key) != true, name != back || row.key != other.key else { continue }
      paired[name, default: []].insert(row.key)
      paired[back, default: []].insert(other.key)
      try set(property.name, of: row, to: other, store)
      try set(inverse, of: other, to: row, store)
    }
  }

  private mutating func set(_ name: String, of row: Row, to other: Row, _ store: RawStore) throws {
    guard let place = map.table(ofNumber: row.number), let property = place.entity.property(named: name),
      let key = place.columns.first(where: { $0.slot == property.slot && $0.role == .toOne })
    else { return }
    let number = property.entityNumberSlot.flatMap { place.column(slot: $0)?.name }
    try update(
      place.table, row.key,
      [(key.name, other.key), (number, Int64(other.number)), (place.orderColumns[property.slot], nextOrder())],
      store)
  }

  private func update(
    _ table: String, _ key: Int64, _ values: [(column: String?, value: Int64)], _ store: RawStore
  ) throws {
    for (column, value) in values {
      guard let column else { continue }
      try store.execute(
        "UPDATE \(name: table) SET \(name: column) = \(number: value) WHERE Z_PK = \(number: key)")
    }
  }
}
