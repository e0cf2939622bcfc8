/// A plan for writing rows of one entity: the columns, and the source of each value.
///
/// Computed once per store; the statements for changed columns are created for each combination on demand.
package final class WritePlan: Sendable {
  /// A column and the source of its value.
  package struct Column: Sendable {
    package enum Source: Sendable {
      case attribute(SlotForm)
      /// An element of a composite attribute's value, by its path of names.
      case element([String], SlotForm)
      /// The key of a to-one relationship's destination.
      case key
      /// The entity number of a to-one relationship's destination.
      case entityNumber
      /// The position among the members of the inverse: null until the order is written.
      case place
    }

    package let name: String
    package let source: Source
    /// The property's slot in ``RowWrites/Insert/values``.
    package let slot: Int
  }

  /// The data needed to bind the value of a plain attribute's column: without reference-counted fields, so that
  /// accessing it is free.
  struct Binding: Sendable {
    let slot: Int
    /// Nil if the column's ``Column/Source`` has to be examined.
    let form: SlotForm?

    init(_ column: Column) {
      slot = column.slot
      form = if case .attribute(let form) = column.source { form } else { nil }
    }
  }

  /// A change to particular slots: one statement. A class, so that passing it on is a single retain.
  package final class Update: Sendable {
    let slots: [Int]
    let sql: PreparedSQL
    /// The statement for rows whose versions aren't known.
    let ofUnreadRow: Lazy<PreparedSQL>
    package let columns: [Column]
    let bindings: [Binding]
    /// The affected columns whose values may be stored in files.
    let fileColumns: [String]
    /// Whether the change makes the row a member of an ordered relationship.
    let hasPlaces: Bool

    init(_ slots: [Int], in table: String, columns: [Column]) {
      self.slots = slots
      self.columns = columns
      sql = PreparedSQL(.update(table, columns.map(\.name)))
      ofUnreadRow = Lazy { PreparedSQL(.update(table, columns.map(\.name), checksVersion: false)) }
      bindings = columns.map(Binding.init)
      fileColumns = columns.filter(\.mayBeInFile).map(\.name)
      hasPlaces = columns.contains { if case .place = $0.source { true } else { false } }
    }
  }

  private struct Releases {
    let ofRow: [PreparedSQL]
    let ofGroup: [PreparedSQL]
  }

  package let entity: Entity
  package let number: Int
  package let table: String
  /// The columns that an insert writes.
  package let columns: [Column]
  let bindings: [Binding]
  let insert: PreparedSQL
  let delete: PreparedSQL
  /// Deletes ``deleteGroupSize`` rows of the same version.
  let deleteGroup: PreparedSQL
  let version: PreparedSQL
  /// The columns whose values may be stored in files, and the statement that reads their file names.
  let fileColumns: [String]
  let fileNames: PreparedSQL?
  /// Computed for the first deletion only: the places of members depend on all tables of the model.
  private let lazyReleases: Lazy<Releases>
  /// To-one relationships whose inverse is ordered.
  package let orderedSlots: [Int]
  /// Columns of uniqueness constraints, by property slot.
  package let uniqueColumns: [Int: [String]]
  /// The tests of uniqueness constraints with conditions, by property slot.
  private let uniquenessTests: [Int: [UniquenessCondition.Test]]
  private let columnsBySlot: [[Column]]
  private let updates = LockProtected(HashedList<[Int], Update>())

  /// The number of rows that one statement deletes. A statement for each takes a third longer; with more, there is
  /// little left to gain.
  static let deleteGroupSize = 32
  /// The maximum number of cached combinations; more are rare.
  private static let updateCapacity = 200

  package init(_ entity: Entity, in map: TableMap) {
    let place = map[entity]
    let table = place.table
    var columns: [Column] = []
    var columnsBySlot: [[Column]] = Array(repeating: [], count: entity.properties.count)
    for column in place.columns {
      // The store computes the value of a derived attribute.
      guard let property = entity.property(named: column.property), property.attribute?.isDerived != true else {
        continue
      }
      let written = Column(name: column.name, source: Self.source(of: column, property), slot: property.slot)
      columns.append(written)
      columnsBySlot[property.slot].append(written)
    }
    for (slot, name) in place.orderColumns.sorted(on: \.key) {
      columnsBySlot[slot].append(Column(name: name, source: .place, slot: slot))
    }
    self.entity = entity
    self.table = table
    self.columns = columns
    bindings = columns.map(Binding.init)
    self.columnsBySlot = columnsBySlot
    number = map.numbers[entity]
    orderedSlots = place.orderColumns.keys.sorted()
    let names = columns.map(\.name)
    insert = PreparedSQL(.insert(into: table, names))
    delete = PreparedSQL(.delete(from: table, keyCount: 1))
    deleteGroup = PreparedSQL(.delete(from: table, keyCount: Self.deleteGroupSize))
    version = PreparedSQL(.version(in: table))
    let fileColumns = columns.filter(\.mayBeInFile).map(\.name)
    self.fileColumns = fileColumns
    fileNames = fileColumns.isEmpty ? nil : PreparedSQL(.fileNames(in: table, fileColumns))
    lazyReleases = Lazy {
      func releases(_ keyCount: Int) -> [PreparedSQL] {
        place.toMany.sorted(on: \.key).flatMap { slot, members in
          Self.releases(members, isAlone: entity.properties[slot].relationship?.inverse == nil, keyCount)
        }
      }
      return Releases(ofRow: releases(1), ofGroup: releases(Self.deleteGroupSize))
    }
    uniqueColumns = Self.uniqueColumns(entity, place)
    var tests: [Int: [UniquenessCondition.Test]] = Dictionary()
    for ancestor in sequence(first: entity, next: \.superentity) {
      for condition in ancestor.description.uniquenessConditions.values.joined() {
        if let slot = entity.slot(named: condition.attribute) { tests[slot, default: []].append(condition.test) }
      }
    }
    uniquenessTests = tests
  }

  /// The statements that remove a deleted row's relationships: pairs in join tables, and its key in columns of rows
  /// that it owned.
  var releases: [PreparedSQL] { lazyReleases.value.ofRow }
  /// The same for ``deleteGroupSize`` rows.
  var groupReleases: [PreparedSQL] { lazyReleases.value.ofGroup }

  private static func source(of column: TableMap.Column, _ property: Property) -> Column.Source {
    switch column.role {
    case .toOne: return .key
    case .toOneEntity: return .entityNumber
    case .attribute(let attribute):
      if let element = property.elements.first(where: { $0.slot == column.slot }) {
        return .element(Array(element.path.dropFirst()), SlotForm(attribute))
      }
      return .attribute(SlotForm(attribute))
    }
  }

  private static func releases(_ members: TableMap.ToMany, isAlone: Bool, _ keyCount: Int) -> [PreparedSQL] {
    switch members {
    case .join(let join):
      let columns = join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn]
      return columns.map { PreparedSQL(.deleteAllPairs(join.table, column: $0, keyCount: keyCount)) }
    // If there is an inverse, the members' own changes are part of the save.
    case .foreignKey(let key) where isAlone:
      let beside = [key.entityColumn, key.orderColumn].compactMap { $0 }
      return [
        PreparedSQL(.removeAllFromOwners(key.table, column: key.column, beside: beside, keyCount: keyCount))
      ]
    case .foreignKey: return []
    }
  }

  private static func uniqueColumns(_ entity: Entity, _ place: TableMap.EntityTable) -> [Int: [String]] {
    var columns: [Int: [String]] = Dictionary()
    var holder: Entity? = entity
    while let current = holder {
      for name in current.description.uniquenessConstraints.joined() {
        guard let slot = name.dottedKeys.first.flatMap({ entity.slot(named: $0) }) else { continue }
        for column in place.columns(ofConstraint: [name]) ?? [] where columns[slot]?.contains(column.name) != true {
          columns[slot, default: []].append(column.name)
        }
      }
      holder = current.superentity
    }
    return columns
  }

  /// The statement that changes these slots; the caller excludes transient ones.
  package func update(of slots: [Int]) -> Update {
    if let known = updates.withLock({ $0[slots] }) { return known }
    let made = Update(slots, in: table, columns: slots.flatMap { columnsBySlot[$0] })
    return updates.withLock { known in
      if let first = known[slots] { return first }
      if known.count >= Self.updateCapacity { known = HashedList() }
      known[slots] = made
      return made
    }
  }

  /// Whether a change makes a row leave the rows that a uniqueness constraint concerns. It is written before those of
  /// other rows, so that rows can exchange their places there.
  package func isLeavingConstraint(_ row: RowWrites.Update) -> Bool {
    !uniquenessTests.isEmpty && row.slots.contains { slot in
      uniquenessTests[slot]?.contains { !$0.holds(for: row.values[slot] ?? .null) } == true
    }
  }

  /// The property of a column.
  func property(ofColumn name: String) -> Property? {
    columns.first { $0.name.foldedIdentifier == name.foldedIdentifier }.map { entity.properties[$0.slot] }
  }
}

extension WritePlan.Column {
  /// Whether its values may be stored in files beside the store.
  var mayBeInFile: Bool {
    switch source {
    case .attribute(.externalData), .element(_, .externalData): true
    default: false
    }
  }
}
