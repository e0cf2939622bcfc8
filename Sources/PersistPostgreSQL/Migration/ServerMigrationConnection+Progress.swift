import Persist

extension ServerMigrationConnection {
  func reportingProgress<T>(
    rows expected: Int64, indexes: Int, _ shouldContinue: ((Int64) -> Bool)?, _ body: () throws -> T
  ) throws -> T {
    guard let shouldContinue else { return try body() }
    let observer = observer ?? ServerChangeObserver(address)
    self.observer = observer
    observer.begin(rows: expected * Int64(1 + indexes), asking: shouldContinue)
    defer { observer.end() }
    let result = try body()
    // The statement may have ended before it was canceled.
    guard !observer.isCancelled else {
      throw PersistenceError(.interrupted, at: .store(url), "An operation on the store was interrupted.")
    }
    return result
  }

  /// Runs the statements of a change, and observes them if somebody asks for their progress.
  func run(_ statements: [ServerText], of change: SchemaChange) throws {
    guard let observer, observer.isAsked, let observed = try observedStatement(of: change) else {
      try session.run(statements)
      return
    }
    session.connection.whileWaiting = { observer.observe(observed) }
    defer { session.connection.whileWaiting = nil }
    try session.run(statements)
  }

  /// - Returns: Nil for a change whose progress can't be seen, or which takes a moment.
  private func observedStatement(of change: SchemaChange) throws -> ServerChangeObserver.Statement? {
    guard let table = change.writtenTable else { return nil }
    let found = try session.all(Self.sizes(of: table)) { result, row in
      (
        process: result.integer(row, 0), rows: result.integer(row, 1),
        index: StatementCourse.Index(
          bytes: result.integer(row, 2), isKey: result.integer(row, 3) != 0, isText: result.integer(row, 4) != 0)
      )
    }
    guard let first = found.first else { return nil }
    let indexes = found.map(\.index)
    switch change {
    case .createIndex(let index):
      let kinds = try columnKinds(of: table)
      let kind = index.columns.first.flatMap { kinds[$0.name.foldedIdentifier] }
      return .init(course: .creating(isText: kind == .text), process: first.process)
    case .rebuildTable: return .init(course: .rewriting(bytes: first.rows, indexes))
    default: return .init(course: .growing(bytes: indexes.reduce(first.rows) { $0 + $1.bytes }))
    }
  }

  /// The server's process, the size of a table, and its indexes in the order in which the server builds them anew: the
  /// size of each, whether it is the key's, and whether it begins with a text.
  private static func sizes(of table: String) -> ServerText {
    """
    SELECT pg_backend_pid()::bigint, coalesce(pg_table_size(found), 0)::bigint, \
    coalesce(pg_relation_size(i.indexrelid), 0)::bigint, coalesce(i.indisprimary, false)::int::bigint, \
    (SELECT count(*) FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid \
    WHERE a.attrelid = i.indexrelid AND a.attnum = 1 AND t.typcategory = 'S') \
    FROM to_regclass(\(text: ServerText.quoted(table))) AS found LEFT JOIN pg_index AS i ON i.indrelid = found \
    ORDER BY i.indexrelid
    """
  }
}
