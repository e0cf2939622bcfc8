import Foundation
import Synchronization

extension SQLiteStore {
  /// SQLite accepts some 32,000 bound values; a predicate with more is evaluated in memory.
  static let valueLimit = 30_000

  /// Assigns each part of a conjunction to SQL if it can be translated exactly.
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    if let template = template(of: predicate, over: entity) {
      try predicate.checkPatterns()
      return PredicateDivision(stored: predicate, rest: nil, prepared: PreparedPredicate(content: template))
    }
    var stored: [FetchPredicate] = []
    var rest: [FetchPredicate] = []
    var values = 0
    let parts = predicate.conjuncts
    for part in parts {
      try part.checkPatterns()
      let condition = translation(of: part, over: entity, now: Date(), joinedWith: parts.count - 1)
      if let count = condition.map({ SQLText.term($0).values.count }), values + count <= Self.valueLimit {
        values += count
        stored.append(part)
      } else {
        rest.append(part)
      }
    }
    return PredicateDivision(stored: stored.conjunction, rest: rest.conjunction)
  }

  /// The condition of a query; nil if it has none.
  func condition(of query: RowQuery) throws -> SQLTerm? {
    guard let predicate = query.predicate else { return nil }
    // Dividing the predicate has already checked that its parts fit.
    var translation = newTranslation(at: query.now)
    let root = PredicateTranslation.Row(row: SQLText.RowSelection.root, entity: query.entity)
    guard let condition = translation.condition(predicate, in: .init(root: root)) else {
      throw PersistenceError(
        .invalidRequest, at: .entity(query.entity.name),
        "The store can't evaluate '\(ValueWords.format(predicate))' in SQL.",
        fix: "Divide the predicate first.")
    }
    return condition
  }

  /// Rewrites a condition to begin with the related rows that match, unless the query names the rows that it reads or
  /// walks through them by key: their related rows are then looked up.
  func relatedRowsFirst(_ condition: SQLTerm, _ query: RowQuery) -> SQLTerm {
    guard query.keys == nil, query.afterKey == nil, !condition.namesKeys(of: SQLText.RowSelection.root) else {
      return condition
    }
    let rewrite = RelatedRowsFirst(extent: query.limit != nil && !query.sort.isEmpty ? .page : .all) {
      self.plans.indexedColumns.value.contains($0)
    }
    let rewritten = rewrite.rewritten(condition)
    return ParserStackUse.holds(rewritten) ? rewritten : condition
  }

  /// One level of a query's sort order.
  func term(_ order: FetchSortDescriptor, of query: RowQuery) throws -> SQLText.RowSelection.Term {
    if let textQuery = order.textQuery { return try relevance(to: textQuery, order, of: query.entity) }
    guard let term = sortTerm(order, over: query.entity, now: query.now) else {
      throw PersistenceError(
        .invalidRequest, at: .property(query.entity.name, order.key),
        "The store can't sort by '\(order.key)'.", fix: "Sort the results in memory.")
    }
    return term
  }

  /// One level of a sort order, other than by relevance; nil if SQL can't compute it, or orders values differently.
  func sortTerm(
    _ order: FetchSortDescriptor, over entity: Entity, now: Date
  ) -> SQLText.RowSelection.Term? {
    // The column of a large value may contain only the name of its file.
    if let attribute = entity.property(named: order.key)?.attribute, SlotForm(attribute) == .externalData { return nil }
    var translation = newTranslation(at: now)
    return translation.sortTerm(order.expression, over: entity, root: SQLText.RowSelection.root).map { term in
      .init(
        value: term.value, isAscending: order.isAscending, isDecimal: term.isDecimal,
        comparison: term.isText ? order.comparison : .values)
    }
  }

  func newTranslation(at now: Date) -> PredicateTranslation {
    translationCount.wrappingAdd(1, ordering: .relaxed)
    return PredicateTranslation(map, storeIdentifier: identifier, now: now, fullText: fullText)
  }

  private func translation(
    of predicate: FetchPredicate, over entity: Entity, now: Date, joinedWith joined: Int
  ) -> SQLTerm? {
    var translation = newTranslation(at: now)
    return translation.condition(predicate, over: entity, root: SQLText.RowSelection.root, joinedWith: joined)
  }
}

extension SQLTerm {
  /// Whether the condition is true only of rows with certain keys.
  fileprivate func namesKeys(of row: SQLRow) -> Bool {
    switch self {
    case .all(let parts): parts.contains { $0.namesKeys(of: row) }
    case .any(let parts): !parts.isEmpty && parts.allSatisfy { $0.namesKeys(of: row) }
    case .binary(.equal, .column("Z_PK", row), .value), .isOne(.column("Z_PK", row), _),
      .isMember(.column("Z_PK", row), _):
      true
    default: false
    }
  }
}

extension SQLiteStore {
  /// An order by relevance to a full-text query.
  func relevance(
    to query: String, _ order: FetchSortDescriptor, of entity: Entity
  ) throws -> SQLText.RowSelection.Term {
    guard let index = map.fullTextIndex(of: order.key, in: entity), fullText.contains(index) else {
      throw PersistenceError(
        .invalidRequest, at: .property(entity.name, order.key),
        "The store has no full-text index of '\(order.key)' to rank by.",
        fix: "Open it once for writing, which creates the index.")
    }
    return .init(
      value: .relevance(.column("Z_PK", of: SQLText.RowSelection.root), index, query: query),
      isAscending: order.isAscending, isDecimal: false, comparison: .values)
  }
}
