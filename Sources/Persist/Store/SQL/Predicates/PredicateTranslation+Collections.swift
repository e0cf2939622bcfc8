/// Collections: to-many relationships, subqueries, and aggregates over them.
extension PredicateTranslation {
  /// The members of a collection as rows of tables.
  struct Collection {
    var scan: SQLScan
    /// A member as an operand; nil if SQL can only count the members.
    let member: SQLOperand?
    /// The row of each member if the members are objects.
    let row: Row?
  }

  /// Whether an expression follows a to-many relationship, as far as the model determines it.
  func isCollection(_ expression: FetchExpression, in scope: Scope) -> Bool {
    var entity: Entity
    let rest: [String]
    switch expression {
    case .subquery: return true
    case .path(of: .current, let keys): (entity, rest) = (scope.root.entity, keys)
    case .path(of: .variable(let name), let keys):
      guard let row = scope.members[name] else { return false }
      (entity, rest) = (row.entity, keys)
    default: return false
    }
    var isToMany = false
    for key in rest {
      if CollectionOperator(rawValue: key) != nil { return false }
      guard let relationship = entity.relationship(named: key) else { break }
      isToMany = isToMany || relationship.isToMany
      entity = map.model.destination(of: relationship)
    }
    return isToMany
  }

  /// The collection of an expression; nil if it isn't a collection or can't be translated.
  mutating func collection(_ expression: FetchExpression, in scope: Scope) -> Collection? {
    switch expression {
    case .path(of: .current, let keys): return members(keys[...], from: scope.root)
    case .path(of: .variable(let name), let keys):
      return scope.members[name].flatMap { members(keys[...], from: $0) }
    case .subquery(let collection, let variable, let predicate):
      guard var members = self.collection(collection, in: scope), let row = members.row else { return nil }
      var inner = scope
      inner.members[variable] = row
      guard let condition = condition(predicate, in: inner) else { return nil }
      members.scan.add(condition)
      return members
    default: return nil
    }
  }

  /// Follows keys: first to-one relationships, then to-many ones, then the keys of a single value of each member.
  private mutating func members(_ keys: ArraySlice<String>, from row: Row) -> Collection? {
    var rest = keys
    var scan = SQLScan(tables: [])
    var current = row
    // A to-one relationship before the first to-many relationship adds one key lookup.
    while let key = rest.first, let relationship = current.entity.relationship(named: key), !relationship.isToMany,
      rest.count > 1
    {
      guard let slot = current.entity.property(named: key)?.slot,
        let column = map[current.entity].column(slot: slot)
      else { return nil }
      let target = newRow(of: map.model.destination(of: relationship))
      scan.tables.append(table(of: target, withKey: .column(column.name, of: current.row)))
      current = target
      rest = rest.dropFirst()
    }
    var isToMany = false
    while let key = rest.first, let property = current.entity.property(named: key),
      let relationship = property.relationship, relationship.isToMany
    {
      let target = newRow(of: map.model.destination(of: relationship))
      guard let tables = tables(from: current, to: target, by: property) else { return nil }
      scan.tables += tables
      current = target
      rest = rest.dropFirst()
      isToMany = true
    }
    // The result of a collection operator is a value, no longer a collection.
    guard isToMany, !rest.contains(where: { CollectionOperator(rawValue: $0) != nil }),
      haveOneValue(rest, of: current.entity)
    else { return nil }
    return Collection(
      scan: scan, member: value(rest, from: current), row: rest.isEmpty ? current : nil)
  }

  /// Whether a path of keys has exactly one value for each member, so that counting the members counts the values.
  ///
  /// A to-many relationship after a to-one relationship has none for a member without the to-one's destination, and
  /// evaluation in memory counts that as one null. Fetched and computed properties can have any number of values.
  private func haveOneValue(_ keys: ArraySlice<String>, of start: Entity) -> Bool {
    var entity = start
    for (index, key) in zip(keys.indices, keys) {
      guard let property = entity.property(named: key) else { return isIdentity(keys[index...], of: entity) }
      if property.attribute != nil { return !property.isTransient }
      guard let relationship = property.relationship, !relationship.isToMany else { return false }
      entity = map.model.destination(of: relationship)
    }
    return true
  }

  /// The tables to join to get from a row to the members of a to-many relationship.
  private mutating func tables(from row: Row, to target: Row, by property: Property) -> [SQLScan.Table]? {
    let own = SQLTerm.column("Z_PK", of: row.row)
    switch map[row.entity].toMany[property.slot] {
    case nil: return nil
    case .foreignKey(let place):
      return [
        SQLScan.Table(
          name: place.table, row: target.row, condition: .binary(.equal, .column(place.column, of: target.row), own))
      ]
    case .join(let join):
      let pair = newRow(of: target.entity).row
      return [
        SQLScan.Table(name: join.table, row: pair, condition: .binary(.equal, .column(join.ownColumn, of: pair), own)),
        table(of: target, withKey: .column(join.memberColumn, of: pair)),
      ]
    }
  }

  /// The result of a collection operator.
  mutating func aggregate(
    _ root: FetchExpression, _ keys: [String], at index: Int, in scope: Scope
  ) -> SQLOperand? {
    let before = Array(keys[..<index])
    let expression = before.isEmpty ? root : FetchExpression.path(of: root, before)
    guard let members = collection(expression, in: scope),
      let operation = CollectionOperator(rawValue: keys[index])
    else { return nil }
    let after = keys[(index + 1)...]
    if operation == .count { return after.isEmpty ? .term(.count(members.scan), .whole) : nil }
    let value: SQLOperand? = after.isEmpty ? members.member : members.row.flatMap { self.value(after, from: $0) }
    guard case .term(let term, let kind)? = value else { return nil }
    switch operation {
    case .minimum where kind.isNumeric || kind == .text: return .term(.least(term, of: members.scan), kind)
    case .maximum where kind.isNumeric || kind == .text: return .term(.greatest(term, of: members.scan), kind)
    case .sum where sumsExactly(after, members): return .term(.sum(term, of: members.scan), .whole)
    default: return nil
    }
  }

  /// Whether a sum of integers can't overflow: SQLite's then fails, whereas the evaluator continues with doubles. Sums
  /// of floating-point numbers depend on their order.
  private func sumsExactly(_ keys: ArraySlice<String>, _ members: Collection) -> Bool {
    guard keys.count == 1, let key = keys.first, let attribute = members.row?.entity.attribute(named: key) else {
      return false
    }
    return [.int16, .int32, .boolean].contains(attribute.type)
  }
}

extension SQLScan {
  mutating func add(_ condition: SQLTerm) {
    self.condition = self.condition.map { .all([$0, condition]) } ?? condition
  }
}
