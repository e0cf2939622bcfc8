/// Builds a ``TableMap``: assigns every part of a model its table and column, by rule and then according to a schema.
struct TableMapBuilder {
  /// The column assigned to a claim.
  struct Placed: Sendable {
    let table: String
    let name: String
    let claim: TableClaim
  }

  let model: ManagedObjectModel
  let numbers: EntityNumbers
  /// Nil for a new store.
  let schema: StoreSchema?
  let names: LayoutNames
  /// Entities that the store was created without.
  let absent: Set<String>
  /// The tables and columns of a server whose names differ from those of the rules.
  let placeNames: PlaceNames
  /// Table names by the name of the root entity.
  private(set) var tableNames: [String: String] = Dictionary()
  private var placed: [String: Placed] = Dictionary()
  /// The columns of each root entity's table, in order.
  private(set) var order: [String: [Placed]] = Dictionary()
  /// The names used in each root entity's table, in Core Data's layout including those of its join tables' columns.
  var allocators: [String: NameAllocator] = Dictionary()
  var joinTables: [TableMap.JoinTable] = []
  var differences: [String] = []

  /// In the order of the store's numbers, in which names are assigned.
  let entities: [Entity]

  init(
    model: ManagedObjectModel, numbers: EntityNumbers, schema: StoreSchema?, names: LayoutNames, absent: Set<String>,
    placeNames: PlaceNames = PlaceNames()
  ) {
    self.model = model
    self.names = names
    self.absent = absent
    self.placeNames = names == .snakeCase ? placeNames : PlaceNames()
    self.numbers = numbers
    self.schema = schema
    entities = model.entities.ordered { numbers[$0] < numbers[$1] }
  }

  /// Places the columns of a single table of a file.
  ///
  /// - Parameter claimants: The entities with columns in the table.
  init(
    model: ManagedObjectModel, numbers: EntityNumbers, tableOf root: Entity, claimedBy claimants: some Sequence<Entity>
  ) {
    (self.model, self.numbers, schema, names, absent) = (model, numbers, nil, .coreData, [])
    placeNames = PlaceNames()
    entities = claimants.ordered { numbers[$0] < numbers[$1] }
    tableNames = [root.name: names.table(of: root.name)]
  }

  /// A builder that has placed everything.
  static func placing(
    _ model: ManagedObjectModel, _ numbers: EntityNumbers, in schema: StoreSchema?, names: LayoutNames,
    absent: Set<String>, placeNames: PlaceNames = PlaceNames()
  ) -> TableMapBuilder {
    var builder = TableMapBuilder(
      model: model, numbers: numbers, schema: schema, names: names, absent: absent, placeNames: placeNames)
    builder.placeTables()
    builder.placeColumns()
    builder.placeJoinTables()
    return builder
  }

  mutating func placeTables() {
    var allocator = NameAllocator(names: names, reserving: names.storeTables)
    for entity in entities where entity.superentity == nil {
      let rule = allocator.allocate(names.table(of: entity.name))
      let name = placeNames[rule] ?? rule
      if let schema {
        if let table = schema.table(named: name) {
          tableNames[entity.name] = table.name
        } else {
          tableNames[entity.name] = name
          guard !absent.contains(entity.name) else { continue }
          differences.append("The store has no table '\(name)' for entity '\(entity.name)'.")
        }
      } else {
        tableNames[entity.name] = name
      }
    }
  }

  func tableName(of entity: Entity) -> String { tableNames[entity.root.name] ?? "" }

  mutating func placeColumns() {
    var claims = [String: [TableClaim]]()
    var dependents = [String: [(of: TableClaim.Key, claim: (String) -> TableClaim)]]()
    for entity in entities {
      let root = entity.root.name
      func add(_ claim: TableClaim?) { if let claim { claims[root, default: []].append(claim) } }
      for property in entity.ownProperties where !property.isTransient {
        if let attribute = property.attribute {
          if attribute.type == .composite {
            for element in property.elements where !element.attribute.isTransient {
              add(claim(element.attribute, of: entity, property: property.name, element: element.path[...].dropFirst()))
            }
          } else {
            add(claim(attribute, of: entity, property: attribute.name))
          }
        } else if let relationship = property.relationship, let reference = reference(relationship, of: entity) {
          claims[reference.root, default: []].append(reference.claim)
          dependents[reference.root, default: []] += reference.dependents.map { (reference.claim.key, $0) }
        }
      }
    }
    for root in tableNames.keys.sorted() {
      place(claims[root] ?? [], inTableOf: root)
      let further = (dependents[root] ?? []).compactMap { dependent in
        place(of: dependent.of).map { dependent.claim($0.name) }
      }
      place(further, inTableOf: root)
    }
  }

  /// The column of an attribute, or of an element of a composite one; nil for an attribute without a type.
  private func claim(
    _ attribute: AttributeDescription, of entity: Entity, property: String, element: ArraySlice<String> = []
  ) -> TableClaim? {
    names.columnType(of: attribute).map { type in
      TableClaim(
        .init(entity: entity.name, property: property, element: element, part: .value), type: type,
        names.attribute(property, element), group: ColumnGroup(attribute.type), holder: entity)
    }
  }

  /// A column with keys of another table: its table, and the dependent columns to create once it has a name.
  private struct Reference {
    /// The name of its root entity.
    let root: String
    let claim: TableClaim
    let dependents: [(String) -> TableClaim]
  }

  /// The column of a to-one relationship, or of a to-many relationship without inverse; nil for all others.
  private func reference(_ relationship: RelationshipDescription, of entity: Entity) -> Reference? {
    let destination = model.destination(of: relationship)
    let key = { TableClaim.Key(entity: entity.name, property: relationship.name, part: $0) }
    let name = relationship.name
    let names = names
    let claim: TableClaim
    let holder: Entity
    let target: Entity
    let isOrdered: Bool
    if !relationship.isToMany {
      (holder, target) = (entity, destination)
      isOrdered = model.inverse(of: relationship).map { $0.isToMany && $0.isOrdered } ?? false
      claim = TableClaim(key(.value), type: .integer, (names.toOne(name), []), group: .reference, holder: holder)
    } else if model.inverse(of: relationship) == nil {
      (holder, target) = (destination, entity)
      isOrdered = relationship.isOrdered
      claim = TableClaim(
        key(.value), type: .integer, names.owner(by: name, of: entity.name, number: numbers[entity]), group: .reference,
        holder: holder)
    } else {
      return nil
    }
    var dependents: [(String) -> TableClaim] = []
    if target.hasSubentities {
      let number = numbers[target]
      dependents.append { column in
        TableClaim(
          key(.entityNumber), type: .integer, names.entityNumber(beside: column, of: name, number: number),
          group: .reference, holder: holder)
      }
    }
    if isOrdered {
      dependents.append { column in
        TableClaim(
          key(.order), type: .integer, names.order(beside: column, of: name), group: .reference, holder: holder)
      }
    }
    return Reference(root: holder.root.name, claim: claim, dependents: dependents)
  }

  /// Assigns claims their columns in the table of a root entity, and records those without a column in the schema.
  private mutating func place(_ claims: [TableClaim], inTableOf root: String) {
    guard !claims.isEmpty, let tableName = tableNames[root] else { return }
    var allocator = allocators[root] ?? NameAllocator(names: names, reserving: names.fixedColumns)
    allocator.reserve(claims.count)
    let predicted = claims.map { claim in
      let name = allocator.allocate(claim.baseName)
      return placeNames[tableName, name] ?? name
    }
    allocators[root] = allocator
    var known = order.removeValue(forKey: root) ?? []
    defer { if !known.isEmpty { order[root] = known } }
    var columns: [String?]?
    let table = schema?.table(named: tableName)
    if let table {
      let taken = Set(known.map(\.name.foldedIdentifier))
      var match = ColumnMatch(claims: claims, predicted: predicted, table: table, names: names, taken: taken)
      columns = match.columns()
      differences += match.differences
    }
    placed.reserveCapacity(placed.count + claims.count)
    for (index, var claim) in claims.enumerated() {
      guard let column = columns.map({ $0[index] }) ?? predicted[index] else { continue }
      // Only servers have columns of other types; in a file, the column has the claim's type.
      if names == .snakeCase, let own = table?.column(named: column).flatMap({ claim.type.usable(in: $0) }) {
        claim.type = own
      }
      let place = Placed(table: tableName, name: column, claim: claim)
      placed[claim.key.text] = place
      known.append(place)
    }
  }

  /// The column of a claim; nil if it has none.
  func place(of key: TableClaim.Key) -> Placed? { placed[key.text] }
}

/// Assigns unique names by appending a number to a name that is taken.
struct NameAllocator: Sendable {
  private let names: LayoutNames
  private var used: Set<String>
  /// The digits last appended to each name, so that many equal names don't retry all of them.
  private var lastDigits: [String: Int] = Dictionary()

  init(names: LayoutNames = .coreData, reserving reserved: [String] = []) {
    self.names = names
    used = Set(reserved.map(\.foldedIdentifier))
  }

  /// Prepares for the allocation of more names.
  mutating func reserve(_ count: Int) { used.reserveCapacity(used.count + count) }

  mutating func allocate(_ base: String) -> String {
    if used.insert(base.foldedIdentifier).inserted { return base }
    var digits = lastDigits[base] ?? 0
    var name: String
    repeat {
      digits += 1
      name = names.repeated(base, digits)
    } while !used.insert(name.foldedIdentifier).inserted
    lastDigits[base] = digits
    return name
  }
}
