/// The changes of names that a copy makes to a store's tables and columns, in an order in which SQLite can carry them
/// out: it then updates the foreign keys, views, triggers and indexes that refer to them, as in place.
struct CopyRenames {
  private(set) var changes: [SchemaChange] = []
  private let plan: CopyPlan
  private let schema: StoreSchema
  private var number = 0

  init(_ plan: CopyPlan, in schema: StoreSchema) {
    self.plan = plan
    self.schema = schema
    let tables = entityTables() + joinTables()
    rename(tables.map { ($0.old, $0.new) })
    for table in tables { renameColumns(of: table) }
  }

  private struct Renaming {
    let old: String
    let new: String
    /// The new names of columns by the old ones.
    var columns: [(old: String, new: String)] = []
  }

  /// The table of a hierarchy becomes the one that receives the rows of its root, or otherwise of any of its entities.
  private func entityTables() -> [Renaming] {
    var taken: Set<String> = []
    return plan.old.tables.filter { $0.entity.superentity == nil }.compactMap { root in
      let steps = plan.steps.filter { $0.isKeyed && $0.offset == 0 && $0.source?.root === root.entity }
      let first = steps.first { $0.source === root.entity } ?? steps.first
      guard schema.hasTable(named: root.table), let destination = first?.destination else { return nil }
      let home = plan.new[destination].table
      guard taken.insert(home).inserted else { return nil }
      var renaming = Renaming(old: root.table, new: home)
      for step in steps where step.destination.map({ plan.new[$0].table }) == home {
        for pair in columns(of: step) where !renaming.columns.contains(where: { $0 == pair.old || $1 == pair.new }) {
          renaming.columns.append(pair)
        }
      }
      return renaming
    }
  }

  /// The old and the new name of each column whose values a step copies.
  private func columns(of step: CopyPlan.Step) -> [(old: String, new: String)] {
    guard let source = step.source, let destination = step.destination else { return [] }
    func columns(of property: String, _ table: TableMap.EntityTable) -> [TableMap.Column] {
      table.columns.filter { $0.property == property }
    }
    return destination.properties.flatMap { property -> [(old: String, new: String)] in
      let mapping = step.mapping
      var key = mapping.attributeMapping(named: property.name)?.valueExpression?.sourceKeyAndFill?.key
      if case .call(_, _, let arguments)? = mapping.relationshipMapping(named: property.name)?.valueExpression {
        key = arguments.last?.sourceKey
      }
      guard let key else { return [] }
      let (old, new) = (columns(of: key, plan.old[source]), columns(of: property.name, plan.new[destination]))
      return old.count == new.count ? zip(old, new).map { ($0.name, $1.name) } : []
    }
  }

  private func joinTables() -> [Renaming] {
    var found: [Renaming] = []
    for way in plan.steps.flatMap(\.relationships.values) {
      guard case .pairs(let copies) = way else { continue }
      for copy in copies {
        guard case .join(let table, let owner, let member, let place, let inversePlace) = copy.target,
          plan.old.joinTables.contains(where: { $0.name == copy.pairs.table }),
          !found.contains(where: { $0.old == copy.pairs.table || $0.new == table })
        else { continue }
        let pairs = copy.pairs
        let columns = [(pairs.owner, owner), (pairs.member, member)]
          + [(pairs.place, place), (pairs.inversePlace, inversePlace)].compactMap { old, new in
            old.flatMap { old in new.map { (old, $0) } }
          }
        found.append(Renaming(old: pairs.table, new: table, columns: columns.map { (old: $0, new: $1) }))
      }
    }
    return found
  }

  // MARK: Order

  private mutating func rename(_ tables: [(old: String, new: String)]) {
    let names = schema.tables.map(\.name)
    for step in ordered(tables, among: names) { changes.append(.renameTable(step.old, to: step.new)) }
  }

  private mutating func renameColumns(of table: Renaming) {
    let names = (schema.table(named: table.old)?.columns ?? []).map(\.name)
    for step in ordered(table.columns, among: names) {
      changes.append(.renameColumn(step.old, to: step.new, table: table.new))
    }
  }

  /// Orders renames. A name that another one needs, and that isn't renamed itself, is given up: the copy lacks it.
  private mutating func ordered(
    _ renames: [(old: String, new: String)], among names: [String]
  ) -> [RenameSequence.Rename] {
    let old = Set(renames.map(\.old.foldedIdentifier))
    let wanted = Set(renames.map(\.new.foldedIdentifier))
    var all = renames.map { RenameSequence.Rename(old: $0.old, new: $0.new) }
    for name in names where wanted.contains(name.foldedIdentifier) && !old.contains(name.foldedIdentifier) {
      all.append(.init(old: name, new: freeName()))
    }
    var free: [String] = []
    for _ in all { free.append(freeName()) }
    return RenameSequence.ordered(all, taken: names) { free.removeLast() }
  }

  private mutating func freeName() -> String {
    number += 1
    return "PERSIST_GONE_\(number)"
  }
}
