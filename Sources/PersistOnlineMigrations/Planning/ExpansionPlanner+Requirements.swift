import Persist
import PersistPostgreSQL

/// The properties that one of the models requires, and that programs with the other may leave without a value.
extension ExpansionPlanner {
  /// Finds missing values that the store has to refuse, or that delay its contraction, and refuses properties that
  /// can't have a value.
  mutating func requireValues() {
    for operation in forward.operations {
      switch operation.kind {
      case .makeRelationshipRequired: require(.second, operation)
      case .makeRelationshipOptional: require(.first, operation)
      case .makeAttributeOptional:
        // A default takes the place of a missing value.
        guard let (old, _) = attributes(of: operation), !old.isDerived, old.defaultValue.isNull else { continue }
        require(.first, operation)
      default: break
      }
    }
    requireValues(forward, Self.noValue)
    requireValues(backward, Self.noOldValue)
  }

  private mutating func require(_ side: OnlineExpansion.Side, _ operation: MigrationOperation) {
    guard let entity = forward.planned.model.entitiesByName[operation.entity], let name = operation.property else {
      return
    }
    require(side, name, of: entity, among: forward.planned.model.hierarchy(of: entity))
  }

  /// - Parameter entities: The entities of the rows.
  private mutating func require(
    _ side: OnlineExpansion.Side, _ name: String, of entity: Entity, among entities: some Sequence<Entity>
  ) {
    let place = forward.planned[entity]
    guard let property = entity.property(named: name),
      let column = place.columns.first(where: { $0.slot == property.slot && $0.role != .toOneEntity })
    else { return refuse(entity.name, name, because: Self.otherValues) }
    let numbers = Set(entities.map { forward.planned[$0].number })
    let all = Set(forward.planned.model.hierarchy(of: entity.root).map { forward.planned[$0].number })
    expansion.required.append(
      .init(
        side, table: place.table, column: column.name, numbers: numbers == all ? nil : numbers.sorted(),
        entity: property.declaringEntity, property: name))
  }

  private mutating func requireValues(_ survey: OnlineSurvey, _ reason: RefusalReason) {
    for entity in survey.planned.model.entities where !entity.isAbstract && survey.source(of: entity) != nil {
      for property in entity.properties where !property.isTransient {
        let origin = survey.correspondence.origin(of: property.name, in: entity.name)
        guard origin?.source == nil, origin?.fill == nil else { continue }
        if let attribute = property.attribute, !attribute.isOptional, !attribute.isDerived {
          if isComputed(attribute.name, of: entity, survey === forward ? .second : .first) { continue }
          refuse(entity.name, property.name, because: reason)
        } else if let relationship = property.relationship, !relationship.isToMany, !relationship.isOptional {
          // A default value doesn't exist, so that programs with the new model have to find the object.
          if survey === forward {
            require(.second, property.name, of: entity, among: [entity])
          } else {
            refuse(entity.name, property.name, because: reason)
          }
        }
      }
    }
  }
}

extension OnlineModels {
  /// Whether the store can be expanded although there is an obstacle in its rows, which must be gone when it is
  /// contracted.
  func isLater(_ blocker: MigrationBlocker) -> Bool {
    guard let entity = forward.planned.model.entitiesByName[blocker.entity ?? ""] else { return false }
    guard let name = blocker.property else { return newlyAbstract.contains { $0.name == entity.name } }
    let required = expansion.required.contains { value in
      value.side == .second && value.property == name
        && entity.property(named: name)?.declaringEntity == value.entity
    }
    // Formulas give values to rows that have none without the mapping model.
    let isComputed = expansion.formulas.contains { $0.side == .second && $0.label == "\(entity.name).\(name)" }
    return required || isComputed || forward.operations.contains { operation in
      operation.kind == .makeToOne && operation.property == name
        && forward.planned.model.entitiesByName[operation.entity].map(entity.isKind) == true
    }
  }

  /// The entities of the second model of which the first has objects, and the second only objects of subentities.
  private var newlyAbstract: [Entity] {
    forward.operations.filter { $0.kind == .changeAbstract }
      .compactMap { forward.planned.model.entitiesByName[$0.entity] }.filter(\.isAbstract)
  }

  /// The conditions for contracting the store that its rows don't meet, in sentences.
  func unmetConditions(_ inspector: any StoreInspector) throws -> [String] {
    var found: [String] = []
    for value in expansion.required where value.side == .second {
      let missing = RowCondition(entityNumbers: value.numbers, missing: [value.column])
      let count = try inspector.count(.rows(value.table, missing))
      if count > 0 {
        found.append("\(count) objects lack '\(value.property)', which '\(value.entity)' requires in the new model")
      }
    }
    for entity in newlyAbstract {
      let place = forward.planned[entity]
      let count = try inspector.count(.rows(place.table, .entities([place.number])))
      if count > 0 {
        found.append(
          "\(count) objects are of no subentity of '\(entity.name)', which the new model has no other objects of")
      }
    }
    for join in expansion.keyJoins where join.side == .second {
      let pairs = PairSource(
        table: join.join.name, owner: join.own, member: join.member, place: nil, inversePlace: nil)
      let count = try inspector.count(
        .crowded(
          PairRows(
            pairs: pairs, owners: .init(table: join.table, entityNumbers: nil),
            members: .init(table: join.members, entityNumbers: nil))))
      if count > 0 {
        found.append("\(count) objects have several members of '\(join.label)', which is to-one in the new model")
      }
    }
    return found
  }
}

extension TableMap {
  /// The entity numbers of a table's rows.
  fileprivate func numbers(in table: String) -> [Int] { tables.filter { $0.table == table }.map(\.number).sorted() }
}
