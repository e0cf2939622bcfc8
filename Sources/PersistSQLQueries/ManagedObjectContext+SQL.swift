public import Persist

extension ManagedObjectContext {
  /// Runs a query in SQL, and returns its rows.
  ///
  /// The query reads the store in the state in which the context's fetches read it. Unsaved changes, those of parents
  /// included, aren't part of it.
  ///
  /// - Throws: `PersistenceError.Code.invalidRequest` for SQL that the store can't run, with its reason, and for
  ///   entities that aren't in one store; `unknownEntity` and `unknownProperty`; and the errors of a fetch.
  /// - Complexity: All rows are in memory. Limit them in the query.
  public func rows(sql request: SQLRequest) throws -> [SQLRow] {
    try select(request).rows
  }

  /// Fetches the objects of a class whose keys a query in SQL selects in its first column, in the order of the query.
  ///
  /// ```swift
  /// let subtree = try context.objects(Folder.self, sql: """
  ///   WITH RECURSIVE tree AS (
  ///     SELECT pk FROM \(Folder.self) WHERE pk = \(root.objectID)
  ///     UNION ALL SELECT f.pk FROM \(Folder.self) AS f JOIN tree ON f.parent = tree.pk
  ///   ) SELECT pk FROM tree
  ///   """)
  /// ```
  ///
  /// Null, and keys without an object of the class, are left out; a repeated key is returned once.
  ///
  /// - Throws: As ``rows(sql:)``; `PersistenceError.Code.typeMismatch` if the first column has other values than
  ///   integers.
  public func objects<Object: ManagedObject>(_ type: Object.Type, sql request: SQLRequest) throws -> [Object] {
    try objects(type, of: findEntity(servedBy: type).name, sql: request)
  }

  /// Fetches the objects of an entity whose keys a query in SQL selects; see ``objects(_:sql:)``.
  public func objects<Object: ManagedObject>(
    _ type: Object.Type, of entityName: String, sql request: SQLRequest
  ) throws -> [Object] {
    let (rows, source) = try select(request)
    let keys = try rows.compactMap { row in try row[0, as: Int64?.self] }
    return try objects(of: entityName, keys: keys, in: source)
  }
}

extension ManagedObjectContext {
  private func select(_ request: SQLRequest) throws -> (rows: [SQLRow], source: any RowSource) {
    let query = try request.resolved(in: self)
    let source = try rows(ofStoreHolding: query.tables.map(\.entity))
    let selected = try source.select(query)
    return (selected.rows.map { SQLRow(values: $0.map { SQLValue($0) }, columnNames: selected.names) }, source)
  }

  /// The objects of an entity with these keys, in their order, each once.
  private func objects<Object: ManagedObject>(
    of entityName: String, keys: [Int64], in source: any RowSource
  ) throws -> [Object] {
    let identifiers = keys.map {
      ManagedObjectID.named(rowKey: $0, entityName: entityName, storeIdentifier: source.identifier)
    }
    var found: [Int64: Object] = [:]
    for object in try fetch(FetchRequest<Object>(entityName, objectIDs: identifiers)) {
      if let key = object.objectID.primaryKey { found[key] = object }
    }
    return keys.compactMap { found.removeValue(forKey: $0) }
  }
}

extension SQLValue {
  fileprivate init(_ value: StoredValue) {
    switch value {
    case .integer(let value): self = .integer(value)
    case .double(let value): self = .double(value)
    case .string(let value): self = .text(value)
    case .data(let value): self = .blob(value)
    default: self = .null
    }
  }
}
