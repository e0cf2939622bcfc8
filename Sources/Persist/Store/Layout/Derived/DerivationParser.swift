/// Translates a derivation into terms of a store's tables.
struct DerivationParser {
  let map: TableMap
  let entity: Entity
  let attribute: String
  let text: String

  /// - Throws: ``PersistenceError/Code/invalidModel`` if the derivation has none of the supported forms.
  func value() throws -> DerivedValue {
    do {
      return try value(of: FetchExpression(text))
    } catch let error as PersistenceError where error.code == .invalidPredicate {
      throw unsupported(error.message)
    }
  }

  private func value(of expression: FetchExpression) throws -> DerivedValue {
    switch expression {
    case .path(of: .current, let keys): return try follow(keys[...], from: entity)
    case .function(.now, _): return .now
    case .function(.uppercase, let arguments) where arguments.count == 1:
      return .text(.uppercase, try value(of: arguments[0]))
    case .function(.lowercase, let arguments) where arguments.count == 1:
      return .text(.lowercase, try value(of: arguments[0]))
    case .function(.canonical, let arguments) where arguments.count == 1:
      return .text(.canonical, try value(of: arguments[0]))
    case .function(let function, let arguments) where arguments.count == 1:
      // Models of Core Data also contain the form `count:(items)`.
      guard let operation = function.aggregate, case .path(of: .current, let keys) = arguments[0] else { break }
      return try follow((keys + [operation.rawValue])[...], from: entity)
    default: break
    }
    throw unsupported("Its form isn't supported.")
  }

  private func follow(_ keys: ArraySlice<String>, from entity: Entity) throws -> DerivedValue {
    guard let key = keys.first, let property = entity.property(named: key), !property.isTransient else {
      throw unsupported("'\(entity.name)' stores nothing named '\(keys.first ?? "")'.")
    }
    let rest = keys.dropFirst()
    guard let relationship = property.relationship else {
      let path = keys.joined(separator: ".")
      guard let (property, element) = entity.storedAttribute(path),
        let column = map[entity].column(slot: element?.slot ?? property.slot)
      else { throw unsupported("'\(path)' isn't an attribute of '\(entity.name)'.") }
      return column.type == .boolean ? .flag(column.name) : .column(column.name)
    }
    let target = map.model.destination(of: relationship)
    let hop = try hop(property, from: entity, to: target)
    if !relationship.isToMany { return .through(hop, try follow(rest, from: target)) }
    guard let operation = rest.last.flatMap(CollectionOperator.init),
      [.count, .sum, .minimum, .maximum, .average].contains(operation),
      !rest.dropLast().contains(where: { $0.hasPrefix("@") })
    else { throw unsupported("A path across a to-many relationship must end in @count, @sum, @min, @max or @avg.") }
    if rest.count == 1, operation == .count { return .aggregate(.count, hop, nil) }
    return .aggregate(operation, hop, try follow(rest.dropLast(), from: target))
  }

  private func hop(_ property: Property, from entity: Entity, to target: Entity) throws -> DerivedHop {
    let (source, destination) = (map[entity].table, map[target].table)
    if property.isToOne, let column = map[entity].column(slot: property.slot) {
      return DerivedHop(source: source, target: destination, way: .key(column.name))
    }
    switch map[entity].toMany[property.slot] {
    case .foreignKey(let key)?: return DerivedHop(source: source, target: destination, way: .owner(key.column))
    case .join(let join)?:
      return DerivedHop(
        source: source, target: destination,
        way: .join(table: join.table, own: join.ownColumn, member: join.memberColumn))
    case nil: throw unsupported("'\(property.name)' has no column in the store.")
    }
  }

  private func unsupported(_ reason: String) -> PersistenceError {
    PersistenceError(
      .invalidModel, at: .property(entity.name, attribute),
      "The store can't maintain the derivation '\(text)': \(reason)",
      fix: "Supported forms: name, owner.name, uppercase:(name), lowercase:(name), canonical:(name), items.@count, "
        + "count:(items), items.price.@sum, now().")
  }
}

extension FetchFunction {
  /// The collection operator that computes the same from a path across a to-many relationship.
  fileprivate var aggregate: CollectionOperator? {
    switch self {
    case .count: .count
    case .sum: .sum
    case .minimum: .minimum
    case .maximum: .maximum
    case .average: .average
    default: nil
    }
  }
}
