/// The two sides of `MATCHTEXT`.
extension FetchPredicate.Comparison {
  /// The query of a `MATCHTEXT` comparison; nil if the right side is null.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` if the right side isn't a text in the query language.
  func fullTextQuery() throws -> FullTextQuery? {
    guard options.isEmpty else {
      throw PersistenceError(
        .invalidPredicate, "MATCHTEXT takes no options, found \(FetchPredicate.comparison(self)).",
        fix: "Set the options in the model's fullTextSearch.")
    }
    switch right.constantValue {
    case .null?: return nil
    case .string(let text)?: return try FullTextQuery(text)
    default:
      throw PersistenceError(
        .invalidPredicate, "MATCHTEXT takes a search text, found \(FetchPredicate.comparison(self)).",
        fix: "Write body MATCHTEXT \"green tea\".")
    }
  }

  /// The keys of the searched text, and the expression they start from.
  func fullTextPath() throws -> (root: FetchExpression, keys: [String]) {
    guard case .path(let root, let keys) = left else {
      throw PersistenceError(
        .invalidPredicate, "MATCHTEXT searches an attribute, found \(FetchPredicate.comparison(self)).",
        fix: "Write the attribute's key on the left: body MATCHTEXT \"green tea\".")
    }
    return (root, keys)
  }
}
