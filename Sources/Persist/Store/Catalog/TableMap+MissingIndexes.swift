extension TableMap {
  /// The declared indexes for which a store has no equivalent under any name.
  ///
  /// - Parameters:
  ///   - schema: The schema of the store.
  ///   - waiting: The deferred steps, among them indexes that will be created.
  ///   - folded: Returns the form in which the engine compares names.
  package func missingIndexes(
    in schema: StoreSchema, besides waiting: [DeferredStep], comparing folded: (String) -> String
  ) -> [IndexDefinition] {
    let names = Set(schema.indexes.map { folded($0.name) })
    let unnamed = declaredIndexDefinitions.filter { index in
      !names.contains(folded(index.name))
        && !waiting.contains(.createIndex(index.name, table: index.table))
        && index.columns.allSatisfy { schema.hasColumn($0.name, of: index.table) }
    }
    guard !unnamed.isEmpty else { return [] }
    let tables = Dictionary(grouping: schema.indexes, by: \.table.foldedIdentifier)
    return unnamed.filter { index in
      let signature = IndexSignature(index)
      return !(tables[index.table.foldedIdentifier] ?? []).contains {
        $0.sql.flatMap(IndexSignature.init(definition:)) == signature
      }
    }
  }
}
