extension SQLiteStore {
  func divide(_ predicate: FetchPredicate, over entity: Entity) throws -> PredicateDivision {
    PredicateDivision(stored: nil, rest: predicate)
  }
}
