import Foundation

/// Makes SQL of predicates, where SQL gives exactly the evaluator's answer.
///
/// What has no such form gives nil, and is left to evaluation in memory: forms that read files or a locale, aggregates
/// over decimals, and whatever isn't worth a translation. Nothing is translated to something nearly the same.
struct PredicateTranslation {
  /// The rows of a table of the query, with the entity that is known of them.
  struct Row {
    let row: SQLRow
    let entity: Entity
  }

  /// Where expressions are looked at: the evaluated object, and the members that subqueries look at.
  struct Scope {
    let root: Row
    var members: [String: Row] = [:]
  }

  let map: TableMap
  /// The store's own identifier: no object of another store is in it.
  let storeIdentifier: String
  /// The time that `now()` stands for.
  let now: Date
  /// The full-text indexes that the store has.
  let fullText: Set<FullTextIndex>
  /// A number that no row of the query has yet.
  private var nextRow = 1

  init(_ map: TableMap, storeIdentifier: String, now: Date, fullText: Set<FullTextIndex>) {
    self.fullText = fullText
    self.map = map
    self.storeIdentifier = storeIdentifier
    self.now = now
  }

  /// The condition that a predicate is for the rows of an entity, which are `root` in it; nil where SQL can't say it
  /// exactly, or SQLite can't parse it.
  ///
  /// - Parameter joined: how many further conditions it may be joined with.
  mutating func condition(
    _ predicate: FetchPredicate, over entity: Entity, root: SQLRow, joinedWith joined: Int = 0
  ) -> SQLTerm? {
    let condition = condition(predicate, in: Scope(root: Row(row: root, entity: entity)))
    return condition.flatMap { TermRoom.holds($0, joinedWith: joined) ? $0 : nil }
  }

  mutating func condition(_ predicate: FetchPredicate, in scope: Scope) -> SQLTerm? {
    switch predicate {
    case .constant(let value): return value ? .always : .never
    case .comparison(let comparison): return condition(comparison, in: scope)
    case .and(let parts): return conditions(parts, in: scope).map(SQLTerm.all)
    case .or(let parts): return conditions(parts, in: scope).map(SQLTerm.any)
    case .not(let part): return condition(part, in: scope).map(SQLTerm.not)
    }
  }

  private mutating func conditions(_ parts: [FetchPredicate], in scope: Scope) -> [SQLTerm]? {
    var conditions: [SQLTerm] = []
    for part in parts {
      guard let condition = condition(part, in: scope) else { return nil }
      conditions.append(condition)
    }
    return conditions
  }

  /// What rows are sorted by, where it has a form in SQL; also what isn't for SQL to compare otherwise.
  mutating func sortTerm(
    _ expression: FetchExpression, over entity: Entity, root: SQLRow
  ) -> (value: SQLTerm, isDecimal: Bool, isText: Bool)? {
    let scope = Scope(root: Row(row: root, entity: entity))
    if case .term(let value, let kind)? = operand(expression, in: scope) {
      guard TermRoom.holds(value) else { return nil }
      return (value, kind == .decimal, kind.isText)
    }
    guard let keys = expression.keys, keys.count == 1, let slot = entity.property(named: keys[0])?.slot,
      let column = map[entity].column(slot: slot)
    else { return nil }
    return (.column(column.name, of: root), false, false)
  }

  mutating func newRow(of entity: Entity) -> Row {
    defer { nextRow += 1 }
    return Row(row: SQLRow(number: nextRow), entity: entity)
  }
}
