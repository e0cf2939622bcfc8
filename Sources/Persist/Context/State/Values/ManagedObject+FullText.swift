/// Full-text search in an object's current values, including unsaved ones.
extension ManagedObject {
  /// Returns the matcher for the texts of an attribute that is marked for full-text search.
  ///
  /// - Parameter keys: The keys from the object to the attribute.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for another attribute;
  ///   ``PersistenceError/Code/foreignObject`` if the object has no context.
  public final func fullTextMatcher(forKeys keys: [String]) throws -> any FullTextMatcher {
    try context(for: keys).textSearcher(searchedAttribute(at: keys))
  }

  /// Returns the part of an attribute's text that matches a query best, with the matches in it.
  ///
  /// ```swift
  /// for note in try context.fetch(request) {
  ///   print(try note.excerpt(of: "body", matching: query)?.marked("**", "**") ?? "")
  /// }
  /// ```
  ///
  /// The store isn't accessed: only the object's own text is searched.
  ///
  /// - Parameters:
  ///   - key: An attribute that is marked for full-text search, possibly a path over to-one relationships.
  ///   - query: The query, as for `MATCHTEXT`.
  ///   - wordCount: The maximum number of words to return, from 1 to 64; nil for the whole text.
  /// - Returns: Nil if the text doesn't match, or there is none.
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` for an invalid query or an attribute that isn't marked.
  public final func excerpt(of key: String, matching query: String, wordCount: Int? = 15) throws -> TextExcerpt? {
    let keys = key.dottedKeys
    let search = try searchedAttribute(at: keys)
    let query = try FullTextQuery(query)
    let value = try FetchExpression.key(key).value(for: self)
    guard case .string(let text)? = value.stored else { return nil }
    return try context(for: keys).textSearcher(search).excerpt(
      text, query, wordCount: wordCount.map { min(max($0, 1), 64) })
  }

  private func searchedAttribute(at keys: [String]) throws -> FullTextSearch {
    try context(for: keys).model.fullTextAttribute(at: keys, from: layout.entity).search
  }

  private func context(for keys: [String]) throws -> ManagedObjectContext {
    if let context = managedObjectContext { return context }
    throw PersistenceError(
      .foreignObject, at: .property(layout.entity.name, keys.joined(separator: ".")),
      "The object belongs to no context, so its text can't be searched.", fix: "Insert it into one.")
  }
}

extension ManagedObjectContext {
  /// Returns the searcher for texts of one kind, creating it on first use.
  fileprivate func textSearcher(_ search: FullTextSearch) throws -> any TextSearcher {
    if let searcher = textSearchers[search.tokenizer] { return searcher }
    let searcher = try StoreLocation.memory.engine.textSearcher(search)
    textSearchers[search.tokenizer] = searcher
    return searcher
  }
}
