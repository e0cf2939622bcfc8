/// Everything that a migration destroys, each with a count for determining its extent in a store.
///
/// Pure, and independent of the way in which the migration is executed: in place and into a new file keep the same
/// data. Losses that affect no rows don't count; without a store, every possible loss is listed.
struct LossPlan: ~Copyable {
  struct Check: Sendable, Equatable {
    let count: RowCount
    let loss: MigrationLoss
  }

  let comparison: ModelComparison
  let old: TableMap
  let origins: RelationshipOrigins
  private(set) var checks: [Check] = []

  var correspondence: ModelCorrespondence { comparison.correspondence }

  /// - Parameter old: the layout of the store, or that of a new store of the old model.
  init(_ comparison: ModelComparison, from old: TableMap, _ origins: RelationshipOrigins) {
    self.comparison = comparison
    self.old = old
    self.origins = origins
    addEntities()
    addAttributes()
    addElements()
    addRelationships()
    addOrders()
  }

  @inline(never)
  mutating func add(_ count: RowCount, _ loss: MigrationLoss) {
    let check = Check(count: count, loss: loss)
    if !checks.contains(check) { checks.append(check) }
  }

  /// The condition for a table's rows that belong to some old entities.
  func rows(_ numbers: [Int], of table: String) -> RowCondition {
    let all = old.tables.filter { $0.table == table }.map(\.number)
    return .entities(Set(all) == Set(numbers) ? nil : numbers.sorted())
  }

  /// Old entities with rows that remain, each with its new entity.
  var stayingEntities: [(old: Entity, new: Entity)] {
    comparison.old.entities.compactMap { entity in
      guard hasRows(entity), let destination = origins.destination(ofNumber: old[entity].number) else { return nil }
      return (entity, destination)
    }
  }

  /// Whether a store can have rows of an entity; a store created for a configuration has no tables of other entities.
  func hasRows(_ entity: Entity) -> Bool { !entity.isAbstract && !old.absent.contains(entity.name) }

  private mutating func addEntities() {
    for entity in comparison.old.entities where hasRows(entity) {
      let table = old[entity]
      guard origins.destination(ofNumber: table.number) == nil else { continue }
      add(
        .rows(table.table, rows([table.number], of: table.table)),
        MigrationLoss(entity: entity.name, what: "entity removed"))
    }
  }

  // MARK: Attributes

  private struct LostAttribute: Hashable {
    let loss: MigrationLoss
    let table: String
    let column: String
  }

  private mutating func addAttributes() {
    var order: [LostAttribute] = []
    var numbers: [LostAttribute: [Int]] = Dictionary()
    for (entity, destination) in stayingEntities {
      let table = old[entity]
      for column in table.columns {
        // A derived value can be recomputed.
        guard case .attribute(let attribute) = column.role, !attribute.isDerived,
          correspondence.newName(of: column.property, inOldEntity: entity.name) == nil,
          let loss = loss(of: column.property, of: entity, destination)
        else { continue }
        let lost = LostAttribute(loss: loss, table: table.table, column: column.name)
        if numbers[lost] == nil { order.append(lost) }
        numbers[lost, default: []].append(table.number)
      }
    }
    for lost in order {
      add(
        .present(lost.table, column: lost.column, rows(numbers[lost] ?? [], of: lost.table)), lost.loss)
    }
  }

  private func loss(of property: String, of entity: Entity, _ destination: Entity) -> MigrationLoss? {
    guard let declaringName = entity.property(named: property)?.declaringEntity,
      let declaring = old.model.entitiesByName[declaringName]
    else { return nil }
    if destination.attribute(named: property)?.isTransient == true {
      return MigrationLoss(entity: destination.name, property: property, what: "attribute no longer stored")
    }
    if destination.attribute(named: property)?.isDerived == true {
      return MigrationLoss(entity: destination.name, property: property, what: "attribute becomes derived")
    }
    guard isGone(property, of: declaring) else {
      return MigrationLoss(entity: destination.name, property: property, what: Self.notOfEntity)
    }
    return MigrationLoss(
      entity: correspondence.newName(ofEntity: declaring.name) ?? destination.name, property: property,
      what: "attribute removed")
  }

  static let notOfEntity = "isn't a property of this entity any more"

  /// Whether no entity keeps a property of an entity or its subentities.
  func isGone(_ property: String, of declaring: Entity) -> Bool {
    old.model.hierarchy(of: declaring).allSatisfy {
      correspondence.newName(of: property, inOldEntity: $0.name) == nil
    }
  }

  // MARK: Elements of composite attributes

  private mutating func addElements() {
    for operation in comparison.operations where operation.kind == .changeElements {
      guard let loss = MigrationLoss(operation), let entity = comparison.new.entitiesByName[operation.entity],
        let source = comparison.source(of: entity),
        let name = operation.property.flatMap({ correspondence.origin(of: $0, in: entity.name)?.source }),
        let property = source.property(named: name)
      else { continue }
      let table = old[source]
      for element in property.elements {
        let path = element.path.dropFirst().joined(separator: ".")
        guard operation.detail == "\(path) removed", let column = table.column(slot: element.slot) else { continue }
        let numbers = old.model.hierarchy(of: source).map { old[$0].number }
        add(.present(table.table, column: column.name, rows(numbers, of: table.table)), loss)
      }
    }
  }
}

extension ModelComparison {
  /// The losses that a store of the old model may suffer, according to the two models alone.
  var losses: [MigrationLoss] {
    let old = TableMap.forNewStore(old)
    return LossPlan(self, from: old, RelationshipOrigins(self, from: old)).losses
  }
}

extension LossPlan {
  /// The losses without numbers or duplicates.
  var losses: [MigrationLoss] {
    var seen = Set<MigrationLoss>()
    return checks.map(\.loss).filter { seen.insert($0).inserted }
  }
}
