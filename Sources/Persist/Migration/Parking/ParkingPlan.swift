/// The values that a migration parks: those without a place in the new version, and on the way to an older version also
/// those that wouldn't come back as they are.
///
/// Pure: determined from the models and the layout of the store.
struct ParkingPlan: Sendable {
  struct Part: Sendable, Equatable {
    enum Work: Sendable, Equatable {
      case objects(table: String, number: Int)
      case values(table: String, column: String, number: Int, rows: SQLText.ParkedRows, areInFiles: Bool)
      case pairs(PairRows)
      /// The values remain in their column, under another name.
      ///
      /// - Parameter hasMissing: Whether missing values are parked too, in the table of parked values.
      case column(table: String, column: String, number: Int, kept: InPlaceWork.KeptColumn, hasMissing: Bool)
    }

    let kind: ParkedSlot.Kind
    let entity: String
    let property: String
    let elements: String
    fileprivate(set) var work: Work

    /// The number of values that it parks.
    var count: RowCount {
      switch work {
      case .objects(let table, let number): .rows(table, .entities([number]))
      case .pairs(let rows): .related(rows)
      case .column(let table, let column, let number, _, let hasMissing):
        hasMissing ? .rows(table, .entities([number])) : .present(table, column: column, .entities([number]))
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

  /// Plans only what a migration would destroy, whichever way it leads, and whether or not it can come back.
  init(lossesOf version: ModelVersion, in old: TableMap, _ comparison: ParkingComparison) {
    self.version = version
    self.comparison = comparison
    self.old = old
    let losses = LossPlan(comparison.there, from: old, RelationshipOrigins(comparison.there, from: old)).checks
    let pairs = Set(losses.compactMap(\.count.pairs))
    for entity in old.model.entities where !old.absent.contains(entity.name) {
      if !entity.isAbstract { addLostValues(of: entity) }
      addRelationships(declaredBy: entity) { relationship, source in
        pairs.contains(source) || pairs.contains(source.turned)
          || (old.model.hierarchy(of: entity) + old.model.hierarchy(of: old.model.destination(of: relationship)))
            .contains { !$0.isAbstract && comparison.there.correspondence.newName(ofEntity: $0.name) == nil }
      }
    }
  }

  private mutating func addLostValues(of entity: Entity) {
    let table = old[entity]
    let correspondence = comparison.there.correspondence
    let isThere = correspondence.newName(ofEntity: entity.name) != nil
    if !isThere { addObjects(of: entity) }
    for column in table.columns {
      guard case .attribute(let attribute) = column.role, !attribute.isDerived,
        let path = path(of: column, in: entity)
      else { continue }
      let name = isThere ? correspondence.newName(of: column.property, inOldEntity: entity.name) : nil
      if let name, comparison.storesValues(of: column.property, path, in: entity, as: name) { continue }
      // A default would take the place of a missing value.
      let hasMissing = attribute.isOptional && (!isThere || attribute.defaultValue != .null)
      add(attribute, in: column, path: path, of: entity, rows: hasMissing ? .all : .present)
    }
  }

  private func path(of column: TableMap.Column, in entity: Entity) -> [String]? {
    guard let property = entity.property(named: column.property) else { return nil }
    return Array((property.elements.first { $0.slot == column.slot }?.path ?? []).dropFirst())
  }

  /// Leaves values in their columns that remain under other names, for the rows that remain in their table.
  mutating func keepColumns(_ columns: [InPlaceWork.KeptColumn], _ moves: [RowMove]) {
    for index in parts.indices {
      guard case .values(let table, let column, let number, let rows, false) = parts[index].work, rows != .missing,
        let kept = columns.first(where: { $0.table == table && $0.column == column }),
        moves.remains(number, in: kept.newTable)
      else { continue }
      parts[index].work = .column(table: table, column: column, number: number, kept: kept, hasMissing: rows == .all)
    }
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
    let table = old[entity]
    let isThere = comparison.entity(entity) != nil
    if !isThere {
      if comparison.isCrossed(entity) {
        obstacles.append("Objects of '\(entity.name)' become others than those that become '\(entity.name)' again.")
      }
      addObjects(of: entity)
    }
    for column in table.columns {
      guard case .attribute(let attribute) = column.role, !attribute.isDerived,
        let path = path(of: column, in: entity)
      else { continue }
      let found = comparison.place(ofAttribute: column.property, path, in: entity)
      if found?.isExact == true { continue }
      if isThere { requireReturn(of: attribute, column.property, in: entity) }
      add(
        attribute, in: column, path: path, of: entity,
        rows: rows(of: attribute, column.property, in: entity, isThere, hasPlace: found != nil))
    }
  }

  private mutating func addObjects(of entity: Entity) {
    let table = old[entity]
    parts.append(
      Part(
        kind: .object, entity: entity.name, property: "", elements: "",
        work: .objects(table: table.table, number: table.number)))
  }

  private mutating func add(
    _ attribute: AttributeDescription, in column: TableMap.Column, path: [String], of entity: Entity,
    rows: SQLText.ParkedRows
  ) {
    let table = old[entity]
    parts.append(
      Part(
        kind: .attribute, entity: entity.name, property: column.property, elements: path.joined(separator: "."),
        work: .values(
          table: table.table, column: column.name, number: table.number, rows: rows,
          areInFiles: attribute.storesMarkedBytes)))
  }

  /// The rows whose values have to be parked.
  private func rows(
    of attribute: AttributeDescription, _ name: String, in entity: Entity, _ isThere: Bool, hasPlace: Bool
  ) -> SQLText.ParkedRows {
    // A default would take the place of a missing value.
    if hasPlace { return .missing }
    // A version in which it is required would fill it.
    guard isThere else { return attribute.isOptional ? .all : .present }
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

  private mutating dynamic func addRelationships(
    declaredBy entity: Entity, where isParked: (RelationshipDescription, PairSource) -> Bool = { _, _ in true }
  ) {
    for relationship in entity.description.relationships where !relationship.isTransient {
      let destination = old.model.destination(of: relationship)
      guard isStoringEnd(relationship, of: entity), !old.absent.contains(destination.name),
        let property = entity.property(named: relationship.name), let pairs = old.pairs(of: property, in: entity),
        comparison.place(ofRelationship: relationship.name, of: entity)?.isExact != true,
        isParked(relationship, pairs)
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

extension [RowMove] {
  /// The entity number of rows after the migration; nil if they are removed, or become one with other rows.
  func number(of number: Int) -> Int? {
    guard let own = first(where: { $0.sourceNumber == number }), let new = own.number,
      !contains(where: { $0.sourceNumber != number && $0.number == new })
    else { return nil }
    return new
  }

  fileprivate func remains(_ number: Int, in table: String) -> Bool {
    self.number(of: number) != nil && contains { $0.sourceNumber == number && $0.table == table }
  }
}

extension RowCount {
  /// The pairs that are counted; nil for counts of something else.
  fileprivate var pairs: PairSource? {
    switch self {
    case .related(let rows), .unmatched(let rows, _): rows.pairs
    default: nil
    }
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
  package func column(ofAttribute name: String, _ path: [String], in entity: Entity) -> Column? {
    self[entity].columns.first { column in
      guard column.property == name, case .attribute = column.role else { return false }
      let elements = entity.property(named: name)?.elements.first { $0.slot == column.slot }?.path ?? []
      return Array(elements.dropFirst()) == path
    }
  }
}
