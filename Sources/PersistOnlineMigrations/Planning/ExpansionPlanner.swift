import Persist
import PersistPostgreSQL

/// Derives the expansion of a store from the two ways between its models.
///
/// Pure. Each change of the ordinary migration is either something that can be there beside what the first model has,
/// or can wait until no program has the first model any longer, or is refused. The way back says what rows of programs
/// with the second model need in the columns that only the first has.
struct ExpansionPlanner {
  /// The prefix of the names of indexes whose final name the first model uses.
  static let temporaryPrefix = "persist_online_"

  let forward: OnlineSurvey
  let backward: OnlineSurvey
  let flows: (forward: ColumnFlow, backward: ColumnFlow)
  var expansion = OnlineExpansion()
  private(set) var refusals: [OnlineRefusal] = []
  /// The places of the second model that need another name. The rest isn't complete as long as there are any.
  private(set) var collisions: Set<PlaceCollision> = []
  /// The old names of renamed join tables, by their new names, and the columns.
  private var joins: [String: (first: String, columns: [String: String])] = [:]
  /// The entity numbers that only the first and only the second model has, in tables of both.
  var hidden: (first: Set<Int>, second: Set<Int>) = ([], [])
  /// The pairs that a migration in one step sets aside.
  private var stages: [PairStage: PairSource] = [:]

  /// - Parameter mappings: The mapping models of both ways; nil where the models alone determine the values.
  init(
    _ forward: OnlineSurvey, backward: OnlineSurvey, mappings: (forward: MappingModel?, backward: MappingModel?)
  ) {
    (self.forward, self.backward) = (forward, backward)
    flows = (ColumnFlow(forward), ColumnFlow(backward))
    if !forward.isDirect { refuse(nil, nil, because: Self.mapped) }
    for blocker in forward.blockers {
      refuse(blocker.entity, blocker.property, because: RefusalReason(blocker.what, fix: blocker.fix))
    }
    for operation in forward.operations {
      if let reason = reason(against: operation) { refuse(operation.entity, operation.property, because: reason) }
    }
    examineEntities()
    planFormulas(mappings)
    requireValues()
    for change in forward.changes { examine(change) }
    for change in backward.changes { examineReturn(change) }
    examineMembers()
    planComposites()
    planColumns()
    addJoins()
    addKeys()
    addIndexes()
    addDerivedAttributes()
    for index in refusals.indices { refusals[index].operation = operation(of: refusals[index]) }
  }

  mutating func refuse(_ entity: String?, _ property: String?, because reason: RefusalReason) {
    let refusal = OnlineRefusal(entity, property, because: reason)
    // One reason for each place is enough.
    guard !refusals.contains(where: { $0.entity == entity && $0.property == property }) else { return }
    refusals.append(refusal)
  }

  mutating func collide(_ collision: PlaceCollision) { collisions.insert(collision) }

  // MARK: Tables and rows

  private mutating func examine(_ change: OnlineSurvey.Change) {
    let (entity, property) = (change.entity, change.property)
    let joinTables = forward.planned.joinTables
    switch change.change {
    case .dropTrigger, .dropView, .dropIndex, .dropTable, .dropColumn, .setEntities, .deleteHistory, .createIndex,
      .update:
      break
    case .createTable(let table, let kept):
      if !kept.isEmpty { refuse(entity, property, because: Self.movedRows) }
      guard Places(forward.map).columns[table.name.foldedIdentifier] != nil else {
        return expansion.tables.append(table)
      }
      if joinTables.contains(where: { $0.name == table.name }) {
        refuse(entity, property, because: Self.reusedName)
      } else {
        collide(.table(rule: table.name, actual: nil))
      }
    case .renameTable(let old, let new):
      // Tables of entities are examined with the entities.
      guard forward.map.joinTables.contains(where: { $0.name == old }) else { return }
      joins[new] = (old, joins[new]?.columns ?? [:])
    case .renameColumn(let old, let new, let table):
      guard joinTables.contains(where: { $0.name == table }) else { return }
      joins[table, default: (table, [:])].columns[new] = old
    case .addColumn(let column, _, let table):
      guard joinTables.contains(where: { $0.name == table }) else { return }
      guard joins[table] == nil else { return refuse(entity, property, because: Self.positions) }
      expansion.columns.append(.init(table: table, column: column, value: .null))
    case .rebuildTable(let rebuild):
      let table = rebuild.definition.name
      if joinTables.contains(where: { $0.name == table }) { refuse(entity, property, because: Self.positions) }
    case .assignPositions(let table, let owner, let member, let place):
      guard joins[table] == nil else { return refuse(entity, property, because: Self.positions) }
      expansion.positions.append(.init(table: table, owner: owner, member: member, place: place))
    case .deleteRows(_, let rows):
      if !areHidden(rows, forward.map) { refuse(entity, property, because: Self.movedRows) }
    case .copyRows, .renumberEntities: refuse(entity, property, because: Self.movedRows)
    case .setAside(let source, let stage): stages[stage] = source
    case .join(let target, let stage):
      guard let join = keyJoin(target, stages[stage]) else { return refuse(entity, property, because: Self.movedPairs) }
      expansion.keyJoins.append(join)
    case .setKeys(let target, let stage):
      guard let join = keyJoin(target, from: stages[stage], of: entity, property) else {
        return refuse(entity, property, because: Self.movedPairs)
      }
      expansion.keyJoins.append(join)
    case .takeEntityNumbers(let table, let key, let number, let target):
      takeNumbers(of: table, in: key, and: number, from: target, for: change)
    // A store on a server has no files.
    case .forget, .readFiles: break
    case .sever(_, _, _, _, let numbers, _), .removePairs(_, _, _, let numbers):
      if !areHidden(numbers, forward.map) { refuse(entity, property, because: Self.movedPairs) }
    }
  }

  private mutating func examineReturn(_ change: OnlineSurvey.Change) {
    switch change.change {
    case .deleteRows(_, let rows):
      if !areHidden(rows, backward.map) { refuse(change.entity, change.property, because: Self.movedRows) }
    case .copyRows, .renumberEntities: refuse(change.entity, change.property, because: Self.movedRows)
    case .assignPositions(let table, let owner, let member, let place):
      guard !joins.values.contains(where: { $0.first == table }) else {
        return refuse(change.entity, change.property, because: Self.positions)
      }
      expansion.positions.append(.init(table: table, owner: owner, member: member, place: place))
    case .setKeys(let target, _):
      guard keyJoin(of: target.rows.table, target.column) != nil else {
        return refuse(change.entity, change.property, because: Self.movedPairs)
      }
    case .takeEntityNumbers(let table, let key, let number, let target):
      takeNumbers(of: table, in: key, and: number, from: target, for: change)
    case .join(let target, _):
      guard expansion.keyJoins.contains(where: { $0.side == .second && $0.join.name == target.table }) else {
        return refuse(change.entity, change.property, because: Self.movedPairs)
      }
    case .sever(_, _, _, _, let numbers, _), .removePairs(_, _, _, let numbers):
      if !areHidden(numbers, backward.map) { refuse(change.entity, change.property, because: Self.movedPairs) }
    default: break
    }
  }

  private func keyJoin(of table: String, _ key: String) -> Int? {
    expansion.keyJoins.firstIndex { ($0.table, $0.key) == (table, key) }
  }

  private mutating func takeNumbers(
    of table: String, in key: String, and number: String, from target: String, for change: OnlineSurvey.Change
  ) {
    if isReference(number, in: table) { return }
    guard let index = keyJoin(of: table, key) else {
      return refuse(change.entity, change.property, because: Self.movedPairs)
    }
    expansion.keyJoins[index].number = .init(column: number, target: target)
  }

  /// The new column of keys for the pairs of a join table; nil for pairs from elsewhere.
  ///
  /// - Parameters:
  ///   - entity: The entity of the relationship that has the column.
  ///   - property: The relationship.
  private func keyJoin(
    _ target: KeyTarget, from source: PairSource?, of entity: String?, _ property: String?
  ) -> OnlineExpansion.KeyJoin? {
    // Members of an ordered inverse would need a position in both.
    guard let source, source.inversePlace == nil || target.row == .member, source.place == nil || target.row == .owner,
      target.place == nil, containsAll(target.rows), containsAll(target.targets),
      keyJoin(of: target.rows.table, target.column) == nil,
      !expansion.keyJoins.contains(where: { $0.join.name == source.table }),
      let table = forward.map.joinTables.first(where: { $0.name == source.table }), !table.isReflexive,
      let join = forward.map.tableDefinitions.first(where: { $0.name == source.table })
    else { return nil }
    let isOwner = target.row == .owner
    return hiding(
      .init(
        .second, table: target.rows.table, key: target.column, join: join,
        own: isOwner ? source.owner : source.member, member: isOwner ? source.member : source.owner,
        of: target.targets.table, place: isOwner ? source.place : source.inversePlace,
        label: [entity, property].compactMap { $0 }.joined(separator: ".")))
  }

  /// The same with the objects that only one of the models has.
  private func hiding(_ join: OnlineExpansion.KeyJoin) -> OnlineExpansion.KeyJoin {
    var join = join
    let (members, owners) = (concreteNumbers(of: join.members), concreteNumbers(of: join.table))
    let (fromKey, fromPairs) = join.side == .first ? (hidden.second, hidden.first) : (hidden.first, hidden.second)
    join.hidden.membersFromKey = members.intersection(fromKey).sorted()
    join.hidden.membersFromPairs = members.intersection(fromPairs).sorted()
    join.hidden.ownersFromKey = owners.intersection(fromKey).sorted()
    return join
  }

  /// Whether all rows of a table that both models know belong to an end of pairs.
  private func containsAll(_ end: PairEnd) -> Bool {
    let numbers = concreteNumbers(of: end.table).subtracting(hidden.first).subtracting(hidden.second)
    return end.entityNumbers.map { numbers.isSubset(of: $0) } != false
  }

  /// The entity numbers of a table's rows in either model; abstract entities have none.
  private func concreteNumbers(of table: String) -> Set<Int> {
    let places = Array(forward.map.tables) + Array(forward.planned.tables)
    return Set(places.filter { $0.table == table && !$0.entity.isAbstract }.map(\.number))
  }

  /// The new join table for the keys of a to-one relationship; nil for pairs from elsewhere.
  private func keyJoin(_ target: PairTarget, _ source: PairSource?) -> OnlineExpansion.KeyJoin? {
    guard let source, source.place == nil, source.inversePlace == nil, !target.isReflexive,
      let join = expansion.tables.first(where: { $0.name == target.table }),
      !expansion.keyJoins.contains(where: { $0.join.name == target.table })
    else { return nil }
    let subject = forward.planned.joinTables.first { $0.name == target.table }?.first
    let label = [subject?.entity, subject?.relationship].compactMap { $0 }.joined(separator: ".")
    switch (source.owner, source.member) {
    case ("Z_PK", let key):
      return hiding(
        .init(
          .first, table: source.table, key: key, join: join, own: target.owner, member: target.member,
          of: target.members.table, label: label))
    case (let key, "Z_PK"):
      return hiding(
        .init(
          .first, table: source.table, key: key, join: join, own: target.member, member: target.owner,
          of: target.owners.table, label: label))
    default: return nil
    }
  }

  /// Refuses relationships that become to-many or to-one, unless one of the models has their pairs in a join table.
  private mutating func examineMembers() {
    for operation in forward.operations where operation.kind == .makeToOne {
      guard let entity = forward.planned.model.entitiesByName[operation.entity],
        let property = operation.property.flatMap({ entity.property(named: $0) })
      else { continue }
      let key = forward.planned[entity].columns.first { $0.slot == property.slot && $0.role == .toOne }
      if let key, keyJoin(of: forward.planned[entity].table, key.name) != nil { continue }
      refuse(entity.name, property.name, because: Self.severalOwners)
    }
    for operation in forward.operations where operation.kind == .makeToMany {
      guard let entity = forward.planned.model.entitiesByName[operation.entity],
        let property = operation.property.flatMap({ entity.property(named: $0) })
      else { continue }
      if case .join(let end)? = forward.planned[entity].toMany[property.slot],
        expansion.keyJoins.contains(where: { $0.join.name == end.table })
      {
        continue
      }
      refuse(entity.name, property.name, because: Self.severalMembers)
    }
  }

  // MARK: Join tables, keys and indexes

  private mutating func addJoins() {
    for (name, join) in joins.sorted(by: { $0.key < $1.key }) {
      let definition = forward.planned.tableDefinitions.first { $0.name == name }
      guard let definition, join.first != name else {
        refuse(forward.planned.joinTables.first { $0.name == name }?.first.entity, nil, because: Self.reusedName)
        continue
      }
      var columns = join.columns
      for column in definition.columns where columns[column.name] == nil { columns[column.name] = column.name }
      let known = Places(forward.map).columns[join.first.foldedIdentifier] ?? []
      guard columns.values.allSatisfy({ known.contains($0.foldedIdentifier) }),
        known.count == definition.columns.count
      else {
        refuse(forward.planned.joinTables.first { $0.name == name }?.first.entity, nil, because: Self.positions)
        continue
      }
      expansion.joins.append(.init(first: join.first, second: definition, columns: columns))
    }
  }

  private mutating func addKeys() {
    let present = forward.map.foreignKeys
    let places = Places(forward.map)
    for key in forward.planned.foreignKeys where !present.contains(key) {
      if places.columns[key.table.foldedIdentifier]?.contains(key.column.foldedIdentifier) == true {
        let subject = subject(of: key.column, in: key.table, forward.planned)
        refuse(subject?.entity, subject?.property ?? "\(key.table).\(key.column)", because: Self.otherKey)
      } else {
        expansion.keys.append(key)
      }
    }
  }

  private mutating func addIndexes() {
    let taken = Set(forward.map.indexDefinitions.map(\.name.foldedIdentifier))
    for change in forward.changes {
      guard case .createIndex(let index) = change.change else { continue }
      let isTaken = taken.contains(index.name.foldedIdentifier)
      expansion.indexes.append(
        .init(index: index, temporaryName: isTaken ? Self.temporaryPrefix + index.name : nil))
    }
  }
}
