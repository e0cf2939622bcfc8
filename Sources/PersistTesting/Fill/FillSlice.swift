import Persist
import PersistTools

/// Creates the objects of one slice: some of every concrete entity, related only among themselves, so that each slice
/// can be saved separately and memory use doesn't grow with the number of rows.
struct FillSlice {
  private let model: ManagedObjectModel
  private let pairs: [RelationshipPair]
  /// The fills by entity index, then by property slot; empty for abstract entities.
  private let attributes: [[Int: AttributeFill]]
  /// The entity's index among the concrete entities of its hierarchy, and their number, by entity index.
  private let places: [(place: Int, count: Int)]

  /// - Throws: `PersistenceError.Code.invalidRequest` if no values can be generated that satisfy an attribute's
  ///   rules.
  init(_ model: ManagedObjectModel) throws {
    self.model = model
    pairs = RelationshipPair.pairs(of: model)
    let composites = Dictionary(
      model.description.composites.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    attributes = try model.entities.map { entity in
      guard !entity.isAbstract else { return [:] }
      let unique = UniqueAttributes.names(of: entity)
      var fills: [Int: AttributeFill] = [:]
      for property in entity.properties {
        guard let attribute = property.attribute, !attribute.isTransient, !attribute.isDerived else { continue }
        fills[property.slot] = try AttributeFill(
          attribute, of: entity.name, unique: unique, composites: composites)
      }
      return fills
    }
    places = model.entities.map { entity in
      let concrete = model.hierarchy(of: entity.root).filter { !$0.isAbstract }
      return (concrete.firstIndex(of: entity).map { $0 - concrete.startIndex } ?? 0, concrete.count)
    }
  }

  /// The number of objects of each entity in a slice: a few thousand objects in total, and enough of each entity for
  /// every relationship's minimum count.
  var size: Int {
    let concrete = model.entities.filter { !$0.isAbstract }.count
    let needed = pairs.map { max($0.near.minimum, $0.far.minimum) }.max() ?? 0
    return max(4096 / max(1, concrete), needed * 4, 16)
  }

  /// - Parameters:
  ///   - counts: the numbers of objects by entity index.
  ///   - before: the numbers of objects in the slices before.
  ///   - firstNumbers: the first number for unique values in the entity's hierarchy, by entity index.
  func writes(
    _ counts: [Int], before: [Int], firstNumbers: [Int64], using generator: inout SeededGenerator
  ) throws -> RowWrites {
    var ids: [[ManagedObjectID]] = []
    var values: [[[StoredValue]]] = []
    for (index, entity) in model.entities.enumerated() {
      let count = counts[index]
      ids.append((0..<count).map { _ in ManagedObjectID(temporaryFor: entity.name) })
      let fills = attributes[index].sorted { $0.key < $1.key }
      try values.append(
        (0..<count).map { offset in
          var row = [StoredValue](repeating: .null, count: entity.properties.count)
          let (place, count) = places[index]
          let number = firstNumbers[index] + Int64((before[index] + offset) * count + place)
          for (slot, fill) in fills { row[slot] = try fill.value(number: number, using: &generator) }
          return row
        })
    }
    var writes = RowWrites()
    for pair in pairs { try join(pair, ids: ids, values: &values, writes: &writes, using: &generator) }
    for (index, entity) in model.entities.enumerated() {
      for (id, row) in zip(ids[index], values[index]) {
        writes.inserts.append(RowWrites.Insert(id: id, entity: entity, values: row))
      }
    }
    return writes
  }

  /// An object of the slice: its entity's index and its index among the slice's objects of that entity.
  private typealias Place = (entity: Int, offset: Int)

  private func join(
    _ pair: RelationshipPair, ids: [[ManagedObjectID]], values: inout [[[StoredValue]]], writes: inout RowWrites,
    using generator: inout SeededGenerator
  ) throws {
    let near = pair.near.entities.flatMap { entity in ids[entity].indices.map { Place(entity, $0) } }
    let far = pair.far.entities.flatMap { entity in ids[entity].indices.map { Place(entity, $0) } }
    let joins = try RelationshipFill(pair: pair).joins(near: near.count, far: far.count, using: &generator)

    func setToOne(_ side: RelationshipPair.Side, of owner: Place, to other: Place) {
      guard let relationship = side.relationship, !relationship.isToMany,
        let slot = model.entities[owner.entity].property(named: relationship.name)?.slot
      else { return }
      values[owner.entity][owner.offset][slot] = .objectID(ids[other.entity][other.offset])
    }
    for join in joins {
      setToOne(pair.near, of: near[join.near], to: far[join.far])
      setToOne(pair.far, of: far[join.far], to: near[join.near])
    }

    let fromNear = Dictionary(grouping: joins, by: \.near).mapValues { $0.map(\.far) }
    let fromFar = Dictionary(grouping: joins, by: \.far).mapValues { $0.map(\.near) }
    func members(
      _ side: RelationshipPair.Side, of owners: [Place], among others: [Place], _ joined: [Int: [Int]],
      _ write: (_ owner: ManagedObjectID, _ entity: Entity, _ slot: Int, _ members: [ManagedObjectID]) -> Void
    ) {
      guard let relationship = side.relationship, relationship.isToMany else { return }
      for (owner, numbers) in joined.sorted(by: { $0.key < $1.key }) {
        let place = owners[owner]
        let entity = model.entities[place.entity]
        guard let slot = entity.property(named: relationship.name)?.slot else { continue }
        write(
          ids[place.entity][place.offset], entity, slot, numbers.map { ids[others[$0].entity][others[$0].offset] })
      }
    }
    if pair.near.isToMany {
      members(pair.near, of: near, among: far, fromNear) {
        writes.links.append(RowWrites.Link(owner: $0, entity: $1, slot: $2, added: $3, removed: []))
      }
    }
    // The related objects of every object: those from both sides if the relationship is its own inverse.
    let sides = pair.isOwnInverse
      ? [(pair.near, near, far, fromNear.merging(fromFar, uniquingKeysWith: +))]
      : [(pair.near, near, far, fromNear), (pair.far, far, near, fromFar)]
    for (side, owners, others, joined) in sides where side.isOrdered {
      members(side, of: owners, among: others, joined) {
        writes.orderings.append(RowWrites.Ordering(owner: $0, entity: $1, slot: $2, members: $3))
      }
    }
  }
}
