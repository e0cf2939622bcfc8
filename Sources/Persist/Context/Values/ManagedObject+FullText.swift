/// Full-text search in an object's present values, unsaved ones included.
extension ManagedObject {
  public final func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher {
    try context(for: keys).singleTextIndex(searchedAttribute(at: keys))
  }

  /// The part of an attribute's text that fits a query best, with what was found in it.
  ///
  /// ```swift
  /// for note in try context.fetch(request) {
  ///   print(try note.excerpt(of: "body", matching: query)?.marked("**", "**") ?? "")
  /// }
  /// ```
  ///
  /// No store is asked: only the object's own text is looked at.
  ///
  /// - Parameters:
  ///   - key: an attribute that is marked for full-text search, also one over to-one relationships.
  ///   - query: what `MATCHTEXT` would be given.
  ///   - wordCount: how many words to show at most, from 1 to 64; nil for the whole text.
  /// - Returns: nil where the text doesn't match, or there is none.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for a query that can't be read or an attribute that isn't
  ///   marked.
  public final func excerpt(of key: String, matching query: String, wordCount: Int? = 15) throws -> TextExcerpt? {
    let keys = key.split(separator: ".").map(String.init)
    let search = try searchedAttribute(at: keys)
    let query = try FullTextQuery(query)
    let value = try FetchExpression.key(key).value(for: self)
    guard case .string(let text)? = value.stored else { return nil }
    return try context(for: keys).singleTextIndex(search).excerpt(
      text, query, wordCount: wordCount.map { min(max($0, 1), 64) })
  }

  private func searchedAttribute(at keys: [String]) throws -> FullTextSearch {
    try context(for: keys).model.fullTextAttribute(at: keys, from: layout.entity).search
  }

  private func context(for keys: [String]) throws -> ManagedObjectContext {
    if let context = managedObjectContext { return context }
    throw PersistenceError(
      .foreignObject, at: .property(layout.entity.name, keys.joined(separator: ".")),
      "The object belongs to no context, so that its texts can't be searched.", fix: "Insert it into one.")
  }
}

extension ManagedObjectContext {
  /// The index for texts of one kind, made when it is asked for first.
  fileprivate func singleTextIndex(_ search: FullTextSearch) throws -> SingleTextIndex {
    if let index = singleTextIndexes[search.tokenizer] { return index }
    let index = try SingleTextIndex(search)
    singleTextIndexes[search.tokenizer] = index
    return index
  }
}
