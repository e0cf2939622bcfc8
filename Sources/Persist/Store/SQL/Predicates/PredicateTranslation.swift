package import Foundation

/// Translates predicates to SQL with exactly the evaluator's results.
///
/// Predicates without an exact translation return nil and are evaluated in memory: forms that read files or depend on a
/// locale, aggregates over decimals, and others that aren't worth translating. There are no approximate translations.
package struct PredicateTranslation {
  /// The rows of a table in the query, with their known entity.
  package struct Row {
    package let row: SQLRow
    package let entity: Entity

    package init(row: SQLRow, entity: Entity) {
      self.row = row
      self.entity = entity
    }
  }

  /// The context of a translation: the evaluated object, and the current members of subqueries.
  package struct Scope {
    package let root: Row
    var members: [String: Row] = Dictionary()

    package init(root: Row, members: [String: Row] = [:]) {
      self.root = root
      self.members = members
    }
  }

  package let map: TableMap
  /// The store's identifier: it contains no objects of other stores.
  let storeIdentifier: String
  /// The value of `now()`.
  let now: Date
  /// The store's full-text indexes.
  let fullText: Set<FullTextIndex>
  /// The next unused row number of the query.
  private var nextRow = 1

  package init(_ map: TableMap, storeIdentifier: String, now: Date, fullText: Set<FullTextIndex>) {
    self.fullText = fullText
    self.map = map
    self.storeIdentifier = storeIdentifier
    self.now = now
  }

  /// The condition of a predicate over the rows of an entity, which are `root` in it; nil if it can't be translated
  /// exactly, or SQLite can't parse it.
  ///
  /// - Parameter joined: The number of further conditions that it may be combined with.
  package mutating func condition(
    _ predicate: FetchPredicate, over entity: Entity, root: SQLRow, joinedWith joined: Int = 0
  ) -> SQLTerm? {
    let condition = condition(predicate, in: Scope(root: Row(row: root, entity: entity)))
    return condition.flatMap { ParserStackUse.holds($0, joinedWith: joined) ? $0 : nil }
  }

  package mutating func condition(_ predicate: FetchPredicate, in scope: Scope) -> SQLTerm? {
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

  /// The sort key in SQL, if it can be translated, including columns that SQL can't otherwise compare.
  package mutating func sortTerm(
    _ expression: FetchExpression, over entity: Entity, root: SQLRow
  ) -> (value: SQLTerm, isDecimal: Bool, isText: Bool)? {
    let scope = Scope(root: Row(row: root, entity: entity))
    if case .term(let value, let kind)? = operand(expression, in: scope) {
      guard ParserStackUse.holds(value) else { return nil }
      return (value, kind.isDecimal, kind.isText)
    }
    guard let keys = expression.keys, keys.count == 1, let slot = entity.property(named: keys[0])?.slot,
      let column = map[entity].column(slot: slot)
    else { return nil }
    return (.column(column.name, of: root), false, false)
  }

  package mutating func newRow(of entity: Entity) -> Row {
    defer { nextRow += 1 }
    return Row(row: SQLRow(number: nextRow), entity: entity)
  }
}
