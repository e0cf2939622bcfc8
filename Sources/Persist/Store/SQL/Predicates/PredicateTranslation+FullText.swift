/// Full-text search.
extension PredicateTranslation {
  /// Tests whether the object with the text is among the index's matches; nil if the store has no index.
  mutating func textMatch(_ comparison: FetchPredicate.Comparison, in scope: Scope) -> SQLTerm? {
    guard case .path(let root, let keys) = comparison.left, let start = row(root, in: scope) else { return nil }
    switch comparison.right.constantValue {
    case .null?: return comparison.modifier == .direct ? .never : nil
    case .string(let query)?:
      guard let found = try? map.model.fullTextAttribute(at: keys, from: start.entity),
        let index = map.fullTextIndex(of: found.attribute.name, in: found.entity), fullText.contains(index)
      else { return nil }
      let owner: FetchExpression = keys.count > 1 ? .path(of: root, keys.dropLast()) : root
      if comparison.modifier == .direct {
        guard case .term(let key, .key)? = operand(owner, in: scope) else { return nil }
        return .hasText(key, index, query: query)
      }
      guard var members = collection(owner, in: scope), case .term(let key, .key)? = members.member else { return nil }
      let hasText = SQLTerm.hasText(key, index, query: query)
      members.scan.add(comparison.modifier == .any ? hasText : .not(hasText))
      return comparison.modifier == .any ? .exists(members.scan) : .not(.exists(members.scan))
    default: return nil
    }
  }
}
