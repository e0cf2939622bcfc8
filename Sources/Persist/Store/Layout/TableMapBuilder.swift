/// Builds a ``TableMap``: assigns every part of a model its table and column, by rule and then according to a schema.
struct TableMapBuilder {
  /// The column assigned to a claim.
  struct Placed: Sendable {
    let table: String
    let name: String
    let claim: TableClaim
  }

  /// The table of a root entity and its subentities.
  struct HierarchyTable: Sendable {
    let root: String
    let name: String
    /// The columns that haven't got a place yet.
    fileprivate var claims: [TableClaim] = []
    /// The columns that have their names from others.
    fileprivate var dependents: [Dependent] = []
    /// The indexes of its columns in ``TableMapBuilder/placed``, in order.
    fileprivate(set) var columns: [Int] = []
    /// The names used in the table, in Core Data's layout including those of its join tables' columns.
    fileprivate var names: NameAllocator

    fileprivate init(_ root: String, named name: String, _ names: NameAllocator) {
      (self.root, self.name, self.names) = (root, name, names)
    }
  }

  /// A column beside another one, after which it is named.
  fileprivate struct Dependent: Sendable {
    let key: TableClaim.Key
    let claim: @Sendable (String) -> TableClaim
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
  /// The tables of root entities.
  private(set) var tables: [HierarchyTable] = []
  /// The index of each table, by the name of its root entity. All dictionaries here map strings to integers, because
  /// each other pair of types takes 15,000 instructions when a process opens its first store.
  private var tableIndexes: [String: Int] = Dictionary()
  /// All columns that have a place, in the order in which they got it.
  private(set) var placed: [Placed] = []
  /// The index of each placed column, by the text of its claim's key.
  private var placedIndexes: [String: Int] = Dictionary()
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
    add(root.name, named: names.table(of: root.name), NameAllocator(names: names, reserving: names.fixedColumns))
  }

  private mutating func add(_ root: String, named name: String, _ names: NameAllocator) {
    tableIndexes[root] = tables.count
    tables.append(HierarchyTable(root, named: name, names))
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
    let columnNames = NameAllocator(names: names, reserving: names.fixedColumns)
    for entity in entities where entity.superentity == nil {
      let rule = allocator.allocate(names.table(of: entity.name))
      let name = placeNames[rule] ?? rule
      let table = schema?.table(named: name)
      add(entity.name, named: table?.name ?? name, columnNames)
      if schema != nil, table == nil, !absent.contains(entity.name) {
        differences.append("The store has no table '\(name)' for entity '\(entity.name)'.")
      }
    }
  }

  func tableName(of entity: Entity) -> String { tableIndexes[entity.root.name].map { tables[$0].name } ?? "" }

  mutating func placeColumns() {
    for entity in entities {
      let own = tableIndexes[entity.root.name]
      func add(_ claim: TableClaim?) { if let claim, let own { tables[own].claims.append(claim) } }
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
          guard let index = tableIndexes[reference.root] else { continue }
          tables[index].claims.append(reference.claim)
          for claim in reference.dependents {
            tables[index].dependents.append(Dependent(key: reference.claim.key, claim: claim))
          }
        }
      }
    }
    for index in tables.indices.ordered(by: { tables[$0].root < tables[$1].root }) {
      place(inTableAt: index)
      for dependent in tables[index].dependents {
        if let place = place(of: dependent.key) { tables[index].claims.append(dependent.claim(place.name)) }
      }
      tables[index].dependents = []
      place(inTableAt: index)
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
    let dependents: [@Sendable (String) -> TableClaim]
  }

  /// The column of a to-one relationship, or of a to-many relationship without inverse; nil for all others.
  private func reference(_ relationship: RelationshipDescription, of entity: Entity) -> Reference? {
    let destination = model.destination(of: relationship)
    let (owner, name) = (entity.name, relationship.name)
    let key = { @Sendable (part: TableClaim.Key.Part) in TableClaim.Key(entity: owner, property: name, part: part) }
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
    var dependents: [@Sendable (String) -> TableClaim] = []
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

  /// Assigns the claims of a table their columns, and records those without a column in the schema.
  private mutating func place(inTableAt position: Int) {
    let (claims, tableName) = (tables[position].claims, tables[position].name)
    guard !claims.isEmpty else { return }
    tables[position].claims = []
    tables[position].names.reserve(claims.count)
    let predicted = claims.map { claim in
      let name = tables[position].names.allocate(claim.baseName)
      return placeNames[tableName, name] ?? name
    }
    var columns: [String?]?
    let table = schema?.table(named: tableName)
    if let table {
      let taken = Set(tables[position].columns.map { placed[$0].name.foldedIdentifier })
      var match = ColumnMatch(claims: claims, predicted: predicted, table: table, names: names, taken: taken)
      columns = match.columns()
      differences += match.differences
    }
    placedIndexes.reserveCapacity(placed.count + claims.count)
    for (index, var claim) in claims.enumerated() {
      guard let column = columns.map({ $0[index] }) ?? predicted[index] else { continue }
      // Only servers have columns of other types; in a file, the column has the claim's type.
      if names == .snakeCase, let own = table?.column(named: column).flatMap({ claim.type.usable(in: $0) }) {
        claim.type = own
      }
      placedIndexes[claim.key.text] = placed.count
      tables[position].columns.append(placed.count)
      placed.append(Placed(table: tableName, name: column, claim: claim))
    }
  }

  /// The column of a claim; nil if it has none.
  @inline(never)
  func place(of key: TableClaim.Key) -> Placed? { placedIndex(of: key).map { placed[$0] } }

  /// The index of a claim's column in ``placed``; nil if it has none.
  func placedIndex(of key: TableClaim.Key) -> Int? { placedIndexes[key.text] }

  /// Assigns a name to a column that a join table has for an end, which no column of the end's table may have.
  mutating func allocateColumn(_ base: String, of entity: Entity) -> String {
    guard let index = tableIndexes[entity.root.name] else { return base }
    return tables[index].names.allocate(base)
  }
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
