/// The costs of the parts of a copy, determined before it begins.
struct CopyCosts {
  /// The rows of the steps' sources, by the steps' numbers.
  private(set) var rows: [Int: Int64] = Dictionary()
  /// The names of the steps' sources, by the steps' numbers.
  private var sources: [Int: String] = Dictionary()
  /// The rows of the tables with pairs.
  private(set) var pairs: [String: Int64] = Dictionary()
  /// The entries of each index of a table of the copy.
  private(set) var entries: [String: Int64] = Dictionary()
  /// The costs of creating objects, and of relating them one by one, by the steps' numbers.
  private(set) var objects: [Int: Int64] = Dictionary()
  private(set) var relationships: [Int: Int64] = Dictionary()
  /// The costs of the indexes that are made when all rows are there.
  private(set) var indexes: Int64 = 0
  private(set) var preparation: Int64 = 0
  private(set) var validation: Int64 = 0
  private(set) var total: Int64 = 1

  init(_ plan: CopyPlan, _ connection: any StoreInspector) throws {
    for step in plan.steps {
      guard let source = step.source else { continue }
      let count = try connection.approximateRowCount(of: plan.old[source].table) + 1
      rows[step.index] = count
      sources[step.index] = source.name
      preparation += WorkCost.of(count, each: WorkCost.preparedRow)
      validation += WorkCost.of(count, each: 1)
      objects[step.index] = WorkCost.of(count, each: step.rows == nil ? WorkCost.createdObject : WorkCost.copiedRow)
      for way in step.relationships.values {
        guard case .pairs(let copies) = way else { continue }
        for copy in copies {
          pairs[copy.pairs.table] = try connection.approximateRowCount(of: copy.pairs.table) + 1
          total += WorkCost.of(pairs[copy.pairs.table] ?? 0, each: WorkCost.changedRow)
        }
      }
      if let table = step.destination.map({ plan.new[$0].table }) { entries[table, default: 0] += count }
    }
    for step in plan.steps where step.relatesByObject {
      relationships[step.index] = WorkCost.of(members(of: step, plan.old.model), each: WorkCost.relatedMember)
    }
    if !plan.usesObjects {
      indexes = plan.new.indexDefinitions.reduce(0) {
        $0 + WorkCost.of(entries[$1.table] ?? 0, each: WorkCost.indexEntry)
      }
    }
    total += preparation + indexes + validation
    total += (objects.values + Array(relationships.values)).reduce(0, +)
  }

  /// The approximate number of objects that a step reads and relates: to-many members count for more.
  private func members(of step: CopyPlan.Step, _ model: ManagedObjectModel) -> Int64 {
    let own = rows[step.index] ?? 0
    guard let source = step.source else { return own }
    return step.mapping.relationshipMappings.reduce(own) { sum, mapping in
      guard mapping.valueExpression != nil, let relationship = source.property(named: mapping.name)?.relationship
      else { return sum }
      guard relationship.isToMany, model.inverse(of: relationship)?.isToMany != true else { return sum + own / 3 }
      // The members of all owners are at most all objects of the destination.
      let members = steps(from: relationship.destination).compactMap { rows[$0] }.max() ?? own
      return sum + members + members / 2
    }
  }

  private func steps(from entity: String) -> [Int] { sources.filter { $0.value == entity }.map(\.key) }

  /// The count after the indexes.
  func endOfIndexes(beginningAt start: Int64) -> Int64 { min(start + indexes, total - validation) }
}
