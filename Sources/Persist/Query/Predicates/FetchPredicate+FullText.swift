/// The two sides of `MATCHTEXT`.
extension FetchPredicate.Comparison {
  /// What `MATCHTEXT` looks for; nil where there is no value.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` where the right side is no text of the query language.
  func fullTextQuery() throws -> FullTextQuery? {
    guard options.isEmpty else {
      throw PersistenceError(
        .invalidPredicate, "MATCHTEXT takes no options, found \(FetchPredicate.comparison(self)).",
        fix: "How texts become words is said by the model.")
    }
    switch right.constantValue {
    case .null?: return nil
    case .string(let text)?: return try FullTextQuery(text)
    default:
      throw PersistenceError(
        .invalidPredicate, "MATCHTEXT takes a text to look for, found \(FetchPredicate.comparison(self)).",
        fix: "Write body MATCHTEXT \"green tea\".")
    }
  }

  /// The keys to the text that is searched, and what they start from.
  func fullTextPath() throws -> (root: FetchExpression, keys: [String]) {
    guard case .path(let root, let keys) = left else {
      throw PersistenceError(
        .invalidPredicate, "MATCHTEXT searches an attribute, found \(FetchPredicate.comparison(self)).",
        fix: "Write the attribute's key on the left: body MATCHTEXT \"green tea\".")
    }
    return (root, keys)
  }
}
