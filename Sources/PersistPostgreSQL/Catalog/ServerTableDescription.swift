import Persist

/// The comments and default values of tables, for people who use them with SQL: both are the model's, and further
/// default values make a row inserted with SQL an object of the store.
struct ServerTableDescription {
  private let session: ServerSession
  private let map: TableMap
  /// By table and column; the empty name is the table itself.
  private var comments: [Place: String] = [:]

  private struct Place: Hashable, Comparable {
    let table: String
    var column = ""

    static func < (left: Place, right: Place) -> Bool { (left.table, left.column) < (right.table, right.column) }
  }

  private struct Present {
    let comment: String
    let standard: String
    /// The type of a column.
    let type: String
  }

  /// The key of a comment in the user info of entities, attributes and relationships.
  static let userInfoKey = "comment"

  init(_ session: ServerSession, _ map: TableMap) {
    (self.session, self.map) = (session, map)
    func record(_ comment: String?, at place: Place) {
      // Subentities share the columns of their parent, which comes first.
      if let comment, !comment.isEmpty, comments[place] == nil { comments[place] = comment }
    }
    for table in map.tables {
      let name = ServerText.name(table.table)
      if table.entity.root === table.entity {
        record(table.entity.description.userInfo[Self.userInfoKey], at: Place(table: name))
      }
      for column in table.columns {
        let userInfo: [String: String]? =
          switch column.role {
          case .attribute(let attribute): attribute.userInfo
          case .toOne: table.entity.properties[column.slot].relationship?.userInfo
          case .toOneEntity: nil
          }
        record(userInfo?[Self.userInfoKey], at: Place(table: name, column: ServerText.name(column.name)))
      }
    }
  }

  /// Completes the tables in the session's transaction. Comments of others remain where the model has none.
  ///
  /// - Parameter wait: The maximum time to wait for the locks of all tables; nil if nobody else can use them.
  func write(waitingAtMost wait: Duration?) throws {
    let present = try readPresent()
    let alterations = try alterations(of: present)
    if let wait, !alterations.isEmpty {
      var locks = TableLocks()
      locks.add(alterations.map(\.table))
      try session.lock(locks, within: wait)
    }
    let statements = commentStatements(present) + alterations.map(\.statement)
    if !statements.isEmpty { try session.run(statements) }
  }

  /// The present tables whose definitions ``write(waitingAtMost:)`` changes.
  ///
  /// - Parameter others: The names of tables that get another definition before that.
  func alteredTables(besides others: Set<String>) throws -> [String] {
    let present = try readPresent().filter { !others.contains($0.key.table) }
    return try alterations(of: present).map(\.table).filter { present[Place(table: $0)] != nil }
  }

  private func commentStatements(_ present: [Place: Present]) -> [ServerText] {
    comments.sorted { $0.key < $1.key }.filter { present[$0.key]?.comment != $0.value }.map { place, comment in
      place.column.isEmpty
        ? "COMMENT ON TABLE \(table: place.table) IS \(literal: comment)"
        : "COMMENT ON COLUMN \(table: place.table).\(name: place.column) IS \(literal: comment)"
    }
  }

  /// The statements that give columns their default values, with their tables.
  private func alterations(of present: [Place: Present]) throws -> [(table: String, statement: ServerText)] {
    var alterations: [(table: String, statement: ServerText)] = []
    for table in map.tables where table.entity.root === table.entity {
      let name = ServerText.name(table.table)
      if present[Place(table: name, column: "id")]?.standard.isEmpty != false {
        let sequence = ServerText.quoted(ServerText.keySequence(of: table.table))
        alterations.append(
          (name, "ALTER TABLE \(table: name) ALTER COLUMN id SET DEFAULT nextval(\(literal: sequence)::regclass)"))
      }
      // Rows of an abstract entity don't exist, so that the entity has to be named.
      let number = table.entity.isAbstract ? "" : "\(table.number)"
      let former = present[Place(table: name, column: "entity")]?.standard ?? ""
      if former != number {
        alterations.append(
          (
            name,
            number.isEmpty
              ? "ALTER TABLE \(table: name) ALTER COLUMN entity DROP DEFAULT"
              : "ALTER TABLE \(table: name) ALTER COLUMN entity SET DEFAULT \(number: Int64(table.number))"
          ))
      }
    }
    let changes = ServerColumnDefault.all(of: map).compactMap { column -> (String, ServerColumnDefault.Change)? in
      guard let present = present[Place(table: column.table, column: column.column)] else { return nil }
      let standard = present.standard.isEmpty ? nil : present.standard
      return column.change(replacing: standard, type: present.type).map { (column.table, $0) }
    }
    // The server compares the values, in one round trip, because others may wait.
    let questions = changes.compactMap(\.1.isSame)
    var answers = questions.isEmpty ? [][...] : try session.run(questions)[...]
    for (table, change) in changes {
      let isSame = change.isSame != nil && answers.popFirst().map { $0.integer(0, 0) != 0 } == true
      if !isSame { alterations.append((table, change.statement)) }
    }
    return alterations
  }

  private func readPresent() throws -> [Place: Present] {
    let rows = try session.all(
      """
      SELECT c.relname::text, a.attname::text, coalesce(col_description(c.oid, a.attnum), ''), \
      coalesce(pg_get_expr(d.adbin, d.adrelid), ''), format_type(a.atttypid, a.atttypmod) FROM pg_class AS c \
      JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped \
      LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum \
      WHERE n.nspname = \(text: session.schema) AND c.relkind IN ('r', 'p') \
      UNION ALL SELECT c.relname::text, '', coalesce(obj_description(c.oid, 'pg_class'), ''), '', '' \
      FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace \
      WHERE n.nspname = \(text: session.schema) AND c.relkind IN ('r', 'p')
      """
    ) { result, row in
      (
        Place(table: result.text(row, 0), column: result.text(row, 1)),
        Present(comment: result.text(row, 2), standard: result.text(row, 3), type: result.text(row, 4))
      )
    }
    return Dictionary(rows, uniquingKeysWith: { first, _ in first })
  }
}
