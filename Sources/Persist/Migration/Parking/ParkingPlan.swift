/// The values that a migration to an older version parks: those without a place in it, or that wouldn't come back as
/// they are.
///
/// Pure: determined from the models and the layout of the store.
struct ParkingPlan: Sendable {
  struct Part: Sendable, Hashable {
    enum Work: Sendable, Hashable {
      case objects(table: String, number: Int)
      case values(table: String, column: String, number: Int, rows: SQLText.ParkedRows, areInFiles: Bool)
      case pairs(PairRows)
    }

    let kind: ParkedSlot.Kind
    let entity: String
    let property: String
    let elements: String
    let work: Work

    /// The number of values that it parks.
    var count: RowCount {
      switch work {
      case .objects(let table, let number): .rows(table, .entities([number]))
      case .pairs(let rows): .related(rows)
      case .values(let table, let column, let number, let rows, _):
        switch rows {
        case .present: .present(table, column: column, .entities([number]))
        case .missing: .rows(table, RowCondition(entityNumbers: [number], missing: [column]))
        case .all: .rows(table, .entities([number]))
        }
      }
    }
  }

  /// The version in which the values have a place.
  let version: ModelVersion
  private(set) var parts: [Part] = []
  /// The reasons for which values can't be parked; empty if everything comes back.
  private(set) var obstacles: [String] = []
  private let comparison: ParkingComparison
  private let old: TableMap

  /// - Parameters:
  ///   - version: The store's version.
  ///   - old: The layout of the store.
  ///   - comparison: The comparison with the older version.
  init(of version: ModelVersion, in old: TableMap, _ comparison: ParkingComparison) {
    self.version = version
    self.comparison = comparison
    self.old = old
    obstacles = comparison.back.operations.compactMap(\.obstacle?.what)
    for entity in old.model.entities where !old.absent.contains(entity.name) {
      if !entity.isAbstract { addValues(of: entity) }
      addRelationships(declaredBy: entity)
    }
    obstacles += wayBack.blockers.map(\.what).filter { !obstacles.contains($0) }
  }

  /// The work of the migration back, for a store of the older version.
  private var wayBack: InPlaceWork {
    let there = TableMap.forNewStore(comparison.other)
    return InPlacePlanner.plan(
      from: there, schema: StoreSchema(newStore: there), to: .forNewStore(comparison.model),
      comparison: comparison.back)
  }

  // MARK: Objects and attributes

  private mutating func addValues(of entity: Entity) {
    let place = old[entity]
    let isThere = comparison.entity(entity) != nil
    if !isThere {
      if comparison.isCrossed(entity) {
        obstacles.append("Objects of '\(entity.name)' become others than those that become '\(entity.name)' again.")
      }
      parts.append(
        Part(
          kind: .object, entity: entity.name, property: "", elements: "",
          work: .objects(table: place.table, number: place.number)))
    }
    for column in place.columns {
      guard case .attribute(let attribute) = column.role, !attribute.isDerived,
        let property = entity.property(named: column.property)
      else { continue }
      let path = Array((property.elements.first { $0.slot == column.slot }?.path ?? []).dropFirst())
      let found = comparison.place(ofAttribute: column.property, path, in: entity)
      if found?.isExact == true { continue }
      if isThere { requireReturn(of: attribute, column.property, in: entity) }
      parts.append(
        Part(
          kind: .attribute, entity: entity.name, property: column.property, elements: path.joined(separator: "."),
          work: .values(
            table: place.table, column: column.name, number: place.number,
            rows: rows(ofAttribute: column.property, in: entity, isThere, hasPlace: found != nil),
            areInFiles: attribute.storesMarkedBytes)))
    }
  }

  /// The rows whose values have to be parked.
  private func rows(
    ofAttribute name: String, in entity: Entity, _ isThere: Bool, hasPlace: Bool
  ) -> SQLText.ParkedRows {
    // A default would take the place of a missing value.
    if hasPlace { return .missing }
    guard isThere else { return .present }
    let isReplaced = comparison.standIn(ofAttribute: name, in: entity) != nil
    return isReplaced || comparison.isFilled(ofAttribute: name, in: entity) ? .all : .present
  }

  /// Notes what prevents the migration back before parked values can be restored.
  private mutating func requireReturn(of attribute: AttributeDescription, _ name: String, in entity: Entity) {
    let hasStandIn = comparison.standIn(ofAttribute: name, in: entity) != nil
    let isFilled = comparison.isFilled(ofAttribute: name, in: entity)
    if !attribute.isOptional, !hasStandIn, !isFilled {
      obstacles.append(
        "'\(entity.name).\(name)' is required and has no default, which objects of the older version would need.")
    }
    var constraints: [[String]] = []
    var ancestor: Entity? = entity
    while let current = ancestor {
      constraints += current.description.uniquenessConstraints
      ancestor = current.superentity
    }
    if hasStandIn || isFilled, constraints.joined().contains(where: { $0.dottedKeys.first == name }) {
      obstacles.append("'\(entity.name).\(name)' is unique, and its default on the way back isn't.")
    }
  }

  // MARK: Relationships

  private mutating func addRelationships(declaredBy entity: Entity) {
    for relationship in entity.description.relationships where !relationship.isTransient {
      let destination = old.model.destination(of: relationship)
      guard isStoringEnd(relationship, of: entity), !old.absent.contains(destination.name),
        let property = entity.property(named: relationship.name), let pairs = old.pairs(of: property, in: entity),
        comparison.place(ofRelationship: relationship.name, of: entity)?.isExact != true
      else { continue }
      parts.append(
        Part(
          kind: .relationship, entity: entity.name, property: relationship.name, elements: "",
          work: .pairs(PairRows(pairs: pairs, owners: old.end(entity), members: old.end(destination)))))
    }
  }

  /// Whether the pairs are stored for this end: a to-many relationship has those of its to-one inverse, and of two
  /// to-many ends the first has them.
  private func isStoringEnd(_ relationship: RelationshipDescription, of entity: Entity) -> Bool {
    guard relationship.isToMany, let inverse = old.model.inverse(of: relationship) else { return true }
    guard inverse.isToMany else { return false }
    let destination = comparison.there.old.destination(of: relationship)
    let declaring = destination.property(named: inverse.name)?.declaringEntity ?? destination.name
    return (entity.name, relationship.name) <= (declaring, inverse.name)
  }
}

extension TableMap {
  /// The rows of an entity and its subentities.
  func end(_ entity: Entity) -> PairEnd {
    PairEnd(table: self[entity].table, entityNumbers: model.hierarchy(of: entity).map { self[$0].number }.sorted())
  }

  /// The rows of exactly some entities of one hierarchy.
  func rows(_ entities: [Entity]) -> PairEnd {
    let numbers = entities.map { self[$0].number }
    return PairEnd(table: entities.first.map { self[$0].table } ?? "", entityNumbers: numbers.sorted())
  }

  /// The column of an attribute, or of an element of a composite one.
  func column(ofAttribute name: String, _ path: [String], in entity: Entity) -> Column? {
    self[entity].columns.first { column in
      guard column.property == name, case .attribute = column.role else { return false }
      let elements = entity.property(named: name)?.elements.first { $0.slot == column.slot }?.path ?? []
      return Array(elements.dropFirst()) == path
    }
  }
}
