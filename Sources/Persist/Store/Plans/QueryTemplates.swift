/// A cache of a store's translations, by the shapes of the queries.
struct QueryTemplates {
  struct PredicateKey: Hashable {
    let entity: Int
    /// Nil for queries without a predicate.
    let shape: PredicateShape?
  }

  struct OrderKey: Hashable {
    let entity: Int
    let sort: [FetchSortDescriptor]
  }

  /// Nil for a predicate without a template.
  var predicates = HashedList<PredicateKey, PredicateTemplate?>()
  /// Whether SQL can sort in an order.
  var orders = HashedList<OrderKey, Bool>()

  /// The maximum number of entries. Programs use few shapes; if one keeps producing new ones, the cache is emptied.
  static let limit = 200

  mutating func add(_ template: PredicateTemplate?, for key: PredicateKey) {
    if predicates.count >= Self.limit { predicates = HashedList() }
    predicates[key] = .some(template)
  }

  mutating func add(canSort: Bool, for key: OrderKey) {
    if orders.count >= Self.limit { orders = HashedList() }
    orders[key] = canSort
  }
}

/// The translation of the predicates of a shape.
final class PredicateTemplate: Sendable {
  /// The condition, with a mark for each parameter; nil if there is none.
  let condition: SQLTerm?
  private let marks: [SQLValue]
  private let statements = LockProtected(HashedList<StatementShape, StatementTemplate?>())

  /// The form of a query with this predicate.
  struct StatementShape: Hashable {
    /// The part of each row that the statement returns.
    enum Result { case rows, keys, count }

    let result: Result
    let includesSubentities: Bool
    let sort: [FetchSortDescriptor]
    let hasLimit: Bool
    let hasOffset: Bool

    init(_ query: RowQuery, _ result: Result) {
      self.result = result
      includesSubentities = query.includesSubentities
      sort = query.sort
      hasLimit = query.limit != nil
      hasOffset = query.offset > 0
    }
  }

  init(condition: SQLTerm?, marks: [SQLValue]) {
    self.condition = condition
    self.marks = marks
  }

  /// The statement for a form of query; nil if its values can't be exchanged.
  ///
  /// - Parameter make: Makes the statement for the marks.
  func statement(
    _ shape: StatementShape, _ make: () throws -> (sql: SQLText, isSorted: Bool)
  ) rethrows -> StatementTemplate? {
    if let known = statements.withLock({ $0[shape] }) { return known }
    let made = try make()
    let template = StatementTemplate(made.sql, isSorted: made.isSorted, marks: marks, hasWindow: shape.hasWindow)
    statements.withLock { statements in
      if statements.count >= QueryTemplates.limit { statements = HashedList() }
      statements[shape] = .some(template)
    }
    return template
  }
}

extension PredicateTemplate.StatementShape {
  fileprivate var hasWindow: Bool { hasLimit || hasOffset }
}

/// The statement of a form of query, with places for its values.
struct StatementTemplate: Sendable {
  private enum Slot: Sendable {
    case value(SQLValue)
    case parameter(Int)
  }

  private let sql: SQLText
  private let slots: [Slot]
  private let hasWindow: Bool
  let isSorted: Bool

  /// - Parameter marks: The values in the places of parameters.
  /// - Returns: Nil if the statement lacks a mark.
  fileprivate init?(_ sql: SQLText, isSorted: Bool, marks: [SQLValue], hasWindow: Bool) {
    // A limit and an offset are the last values.
    let values = hasWindow ? sql.values.dropLast(2) : sql.values[...]
    var missing = Set(marks.indices)
    slots = values.map { value in
      guard let index = marks.firstIndex(of: value) else { return .value(value) }
      missing.remove(index)
      return .parameter(index)
    }
    guard missing.isEmpty else { return nil }
    (self.sql, self.isSorted, self.hasWindow) = (sql, isSorted, hasWindow)
  }

  /// The statement of a query.
  func sql(_ parameters: [SQLValue], _ query: RowQuery) -> SQLText {
    var values: [SQLValue] = []
    values.reserveCapacity(slots.count + 2)
    for slot in slots {
      switch slot {
      case .value(let value): values.append(value)
      case .parameter(let index): values.append(parameters[index])
      }
    }
    if hasWindow {
      values.append(.integer(Int64(query.limit ?? -1)))
      values.append(.integer(Int64(query.offset)))
    }
    return sql.binding(values)
  }
}
