/// The plans by which an engine reads and writes the rows of a store, by index in ``ManagedObjectModel/entities``.
package struct StorePlans: Sendable {
  private let entities: [Entity]
  /// The plans for reading rows of just the entity.
  ///
  /// Each is made when it is first needed: a program that opens a store uses few of its entities at once.
  package let exact: LazyList<RowPlan>
  /// The plans for reading rows of the entity and its subentities.
  package let deep: LazyList<RowPlan>
  /// The plans for writing rows of just the entity.
  package let writes: LazyList<WritePlan>
  /// The columns that indexes of the model begin with.
  package let indexedColumns: Lazy<RelatedRowsFirst.Indexes>

  package init(in map: TableMap) {
    let entities = map.model.entities
    self.entities = entities
    let exact = LazyList(count: entities.count) { RowPlan(entities[$0], includingSubentities: false, in: map) }
    self.exact = exact
    deep = LazyList(count: entities.count) { index in
      entities[index].hasSubentities ? RowPlan(entities[index], includingSubentities: true, in: map) : exact[index]
    }
    writes = LazyList(count: entities.count) { WritePlan(entities[$0], in: map) }
    indexedColumns = Lazy {
      RelatedRowsFirst.Indexes(
        map.indexDefinitions.compactMap { index in
          index.columns.first.map { RelatedRowsFirst.Index(table: index.table, column: $0.name) }
        })
    }
  }

  /// The plan for writing rows of an entity.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity`` for an entity of another model.
  package func plan(forWriting entity: Entity) throws -> WritePlan { writes[try index(of: entity)] }

  /// The plan for reading the rows of a query.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity`` for an entity of another model.
  package func plan(for query: RowQuery) throws -> RowPlan {
    (query.includesSubentities ? deep : exact)[try index(of: query.entity)]
  }

  private func index(of entity: Entity) throws -> Int {
    let index = entity.index
    guard entities.indices.contains(index), entities[index] === entity else {
      throw PersistenceError.foreignEntity(entity)
    }
    return index
  }
}
