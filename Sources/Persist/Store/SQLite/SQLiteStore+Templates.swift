import Foundation

/// Queries that differ only in their values are translated once.
extension SQLiteStore {
  /// The template of a predicate; nil if a part of it can't be translated, or its translation depends on more than its
  /// values.
  func template(of predicate: FetchPredicate?, over entity: Entity) -> PredicateTemplate? {
    let key = QueryTemplates.PredicateKey(entity: entity.number, shape: predicate.map(PredicateShape.init))
    if let known = templates.withLock({ $0.predicates[key] }) { return known }
    if let shape = key.shape, !shape.isRepeatable { return nil }
    let template = makeTemplate(key.shape, over: entity)
    templates.withLock { $0.add(template, for: key) }
    return template
  }

  private func makeTemplate(_ shape: PredicateShape?, over entity: Entity) -> PredicateTemplate? {
    guard let (predicate, marks) = shape?.marked else { return PredicateTemplate(condition: nil, marks: []) }
    var translation = newTranslation(at: Date())
    guard let condition = translation.condition(predicate, over: entity, root: SQLText.RowSelection.root) else {
      return nil
    }
    let values = SQLText.term(condition).values
    guard values.count <= Self.valueLimit else { return nil }
    // Nearly all of them have the same order.
    var rest = values[...]
    let hasAll = marks.allSatisfy { mark in
      guard let place = rest.firstIndex(of: mark) else { return values.contains(mark) }
      rest = rest[(place + 1)...]
      return true
    }
    guard hasAll else { return nil }
    return PredicateTemplate(condition: condition, marks: marks)
  }

  /// The statement for a result of a query, and whether it sorts the rows; nil if the query has no template.
  func templateStatement(
    for query: RowQuery, returning result: PredicateTemplate.StatementShape.Result, _ plan: RowPlan
  ) throws -> (sql: SQLText, isSorted: Bool)? {
    // A query without a condition and an order has nothing to translate.
    guard query.predicate != nil || !query.sort.isEmpty,
      query.keys == nil, query.afterKey == nil, query.limit ?? 0 >= 0, query.offset >= 0,
      let template = query.prepared?.content as? PredicateTemplate ?? template(of: query.predicate, over: query.entity)
    else { return nil }
    let statement = try template.statement(PredicateTemplate.StatementShape(query, result)) {
      let selection = try selection(for: query, plan: plan, condition: template.condition)
      return (plan.statement(result, of: selection), selection.isSorted)
    }
    return statement.map { statement in
      let parameters = query.predicate.map { PredicateShape($0).parameters } ?? []
      return (statement.sql(parameters, query), statement.isSorted)
    }
  }

  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool {
    if descriptors.isEmpty { return true }
    let key = QueryTemplates.OrderKey(entity: entity.number, sort: descriptors)
    if let known = templates.withLock({ $0.orders[key] }) { return known }
    let now = Date()
    let canSort = descriptors.allSatisfy { $0.textQuery != nil || sortTerm($0, over: entity, now: now) != nil }
    templates.withLock { $0.add(canSort: canSort, for: key) }
    return canSort
  }
}

extension RowPlan {
  /// The statement for a result of selected rows.
  func statement(_ result: PredicateTemplate.StatementShape.Result, of rows: SQLText.RowSelection) -> SQLText {
    switch result {
    case .rows: .rows(columnList, rows)
    case .keys: .rows(keyColumnList, rows)
    case .count: .count(rows)
    }
  }
}
