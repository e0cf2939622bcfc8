/// Matches texts against full-text queries by the same rules as a store's index.
public protocol FullTextMatcher {
  /// Returns whether a text matches a query.
  ///
  /// - Throws: The errors of the text search itself; an invalid query is rejected when it is created.
  func matches(_ text: String, _ query: FullTextQuery) throws -> Bool
}

/// Searches single texts: those of objects whose values no store has, and those that are shown with what was found.
package protocol TextSearcher: FullTextMatcher {
  /// - Parameter wordCount: the number of words of the text to show, from 1 to 64; nil for all of it.
  /// - Returns: nil if the text doesn't match.
  func excerpt(_ text: String, _ query: FullTextQuery, wordCount: Int?) throws -> TextExcerpt?
}

extension KeyedObject {
  /// Throws, because only managed objects have full-text attributes.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``.
  public func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher {
    throw PersistenceError(
      .invalidPredicate,
      "MATCHTEXT works only on managed objects, because the model defines how texts are split into words.",
      fix: "Compare other values with CONTAINS[cd] or MATCHES.")
  }
}

/// Full-text search in memory.
extension ExpressionEvaluator {
  func matchesText(_ comparison: FetchPredicate.Comparison, _ object: FetchValue) throws -> Bool {
    guard let query = try comparison.fullTextQuery() else { return false }
    let (root, keys) = try comparison.fullTextPath()
    let start = try value(of: root, for: object)
    guard case .object(let owner) = start else {
      if start.isNull { return false }
      throw PersistenceError(
        .invalidPredicate,
        "MATCHTEXT needs a key path of a managed object, found \(FetchPredicate.comparison(comparison)).",
        fix: "Start the key path at an object.")
    }
    let matcher = try owner.fullTextMatcher(forKeys: keys)
    func matches(_ value: FetchValue) throws -> Bool {
      guard case .string(let text)? = value.stored else { return false }
      return try matcher.matches(text, query)
    }
    let found = try value(of: comparison.left, for: object)
    switch comparison.modifier {
    case .direct: return try matches(found)
    case .any: return try found.members.contains(where: matches)
    case .all: return try found.members.allSatisfy(matches)
    }
  }
}
