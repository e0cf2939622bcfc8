extension TableMap {
  /// The keys and unique indexes that a store lacks, as problems.
  ///
  /// - Parameter name: Returns the name of a table or column as users see it.
  package func keyProblems(in schema: StoreSchema, _ name: (String) -> String = { $0 }) -> [StoreProblem] {
    missingKeys(in: schema).map { StoreProblem(kind: .missingKey, entity: $0.entity, detail: $0.detail(name)) }
      + missingUniqueIndexes(in: schema).map { index in
        StoreProblem(
          kind: .missingIndex, entity: index.subject?.entity, property: index.subject?.name,
          detail: index.missingUniqueDetail)
      }
  }
}
