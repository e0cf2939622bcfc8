package import Foundation

extension SQLiteConnection: StoreInspector {
  package func catalog() throws -> StoreCatalog { try StoreCatalog(self) }

  package func catalog(knowing schema: StoreSchema) throws -> StoreCatalog { try StoreCatalog(self, knowing: schema) }

  package func isCurrent(_ catalog: StoreCatalog) throws -> Bool { try catalog.isCurrent(self) }
  package var stateNumber: Int64? { Int64(dataVersion) }

  package func identify(among registry: ModelRegistry?, known: StoreCatalog?) throws -> IdentifiedStore {
    try StoreIdentification.identify(self, registry: registry, known)
  }

  package func count(_ count: ConditionCount, in map: TableMap) throws -> Int? {
    try firstNumber("\(count.start)\(SQLText.term(count.condition))")
  }

  package func firstNumber(_ sql: SQLText) throws -> Int { try first(sql) { Int(clamping: $0.integer(0)) } ?? 0 }

  @_disfavoredOverload
  package func firstNumber(_ sql: SharedSQL) throws -> Int { try firstNumber(SQLText(sql)) }

  package func forEachFinding(_ step: CheckStep, _ body: (CheckStep.Finding) throws -> Void) throws {
    try query(step.query.fileText) { row in
      try body(
        CheckStep.Finding(
          row: row.integer(0), entityNumber: row.integer(1), values: (row.value(2), row.value(3))))
    }
  }

  package func largeValueNames(in table: String, column: String, _ rows: RowCondition) throws -> [String] {
    try all(.fileNames(in: table, column: column, rows)) { $0.data(0).largeValueName }
  }

  package var convertsRowsLater: Bool { true }

  package func requireMigratable() throws {
    guard let url else { return }
    try MigrationRequirements(store: SQLiteFileName.resolved(url)).check(self)
  }
}

extension SQLiteConnection: MigrationConnection {
  package func prepareForMigration() throws {
    try prepareForChanges()
    // Files that only the old version refers to are removed after the commit, so the commit must survive a power
    // failure.
    try execute(.synchronousFull)
  }

  @discardableResult
  package func execute(_ statement: ParkedValueStatement) throws -> Int {
    try statement.sql.reduce(0) { try $0 + execute($1) }
  }

  package func intactFullTextIndexes(among indexes: Set<FullTextIndex>) throws -> Set<FullTextIndex> {
    try indexes.kept(by: self)
  }

  package func record(_ metadata: StoreMetadata, model: ManagedObjectModel, coreDataHashes: [String: Data]?) throws {
    var metadata = metadata
    try metadata.record(model, coreDataHashes: coreDataHashes, in: self)
  }

  package func stamp(_ metadata: StoreMetadata, model: ManagedObjectModel) throws {
    try metadata.stamp(model, in: self)
  }
}
