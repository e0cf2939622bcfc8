import Foundation
import Persist

extension PostgreSQLStore {
  /// Assigns each part of a conjunction to the server if it can be translated exactly.
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    var stored: [FetchPredicate] = []
    var rest: [FetchPredicate] = []
    var effort = ServerEffort()
    for part in predicate.conjuncts {
      try part.checkPatterns()
      if let own = condition(part, over: entity, now: Date())?.effort, (effort + own).isBounded {
        effort = effort + own
        stored.append(part)
      } else {
        rest.append(part)
      }
    }
    return PredicateDivision(stored: stored.conjunction, rest: rest.conjunction)
  }

  func canSort(by descriptors: [FetchSortDescriptor], over entity: Entity) -> Bool {
    descriptors.allSatisfy { sortTerm($0, over: entity) != nil }
  }

  /// The condition of a predicate over the rows of an entity; nil if the server can't evaluate it exactly.
  func condition(_ predicate: FetchPredicate, over entity: Entity, now: Date) -> ServerText? {
    let root = SQLText.RowSelection.root
    var translation = newTranslation(at: now)
    guard let term = translation.condition(predicate, over: entity, root: root) else { return nil }
    let rewrite = RelatedRowsFirst(extent: .all) { self.plans.indexedColumns.value.contains($0) }
    let terms = newTerms(over: entity)
    return terms.condition(rewrite.rewritten(term))?.bounded ?? terms.condition(term)?.bounded
  }

  /// A condition that is true of every row that matches a predicate, and possibly of others; nil if there is none.
  func widerCondition(_ predicate: FetchPredicate, over entity: Entity, now: Date) -> ServerText? {
    var translation = newTranslation(at: now)
    let term = translation.condition(predicate, over: entity, root: SQLText.RowSelection.root)
    return term.flatMap { newTerms(over: entity).wider($0)?.bounded }
  }

  /// The terms of an order with its direction; nil if the server can't compute it, or orders values differently.
  func sortTerm(_ descriptor: FetchSortDescriptor, over entity: Entity) -> ServerText? {
    guard descriptor.textQuery == nil else { return nil }
    var translation = newTranslation(at: Date())
    guard
      let term = translation.sortTerm(descriptor.expression, over: entity, root: SQLText.RowSelection.root),
      !term.isText || descriptor.comparison == .values,
      let value = newTerms(over: entity).value(term.value)?.text.bounded
    else { return nil }
    return "\(value)\(descriptor.isAscending ? " NULLS FIRST" : " DESC NULLS LAST")"
  }

  func newTranslation(at now: Date) -> PredicateTranslation {
    PredicateTranslation(map, storeIdentifier: identifier, now: now, fullText: [])
  }

  func newTerms(over entity: Entity) -> ServerTerms { ServerTerms(kinds.value, table: map[entity].table) }
}
