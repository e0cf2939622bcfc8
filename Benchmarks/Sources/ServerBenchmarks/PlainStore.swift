/// The tables of the sample model and the statements that a program would write by hand.
struct PlainStore {
  typealias Statement = (sql: String, parameters: [PlainConnection.Parameter])

  let connection: PlainConnection
  let schema: String
  /// The rows that one statement writes.
  private static let groupSize = 5000

  init(_ url: String, schema: String) throws {
    connection = try PlainConnection(url)
    self.schema = schema
  }

  /// Creates the tables, with the columns, types, indexes and foreign keys of Persist's.
  func create() throws {
    for sql in [
      "CREATE SCHEMA \(schema)",
      """
      CREATE TABLE \(schema).zitem (z_pk bigint PRIMARY KEY, z_ent bigint, z_opt bigint NOT NULL, zgroup bigint, \
      zquantity bigint, zprice double precision, zname text COLLATE "C", znote text COLLATE "C")
      """,
      "CREATE INDEX ON \(schema).zitem (zgroup NULLS FIRST)",
      """
      CREATE TABLE \(schema).zgroup (z_pk bigint PRIMARY KEY, z_ent bigint, z_opt bigint NOT NULL, \
      ztitle text COLLATE "C")
      """,
      """
      ALTER TABLE \(schema).zitem ADD FOREIGN KEY (zgroup) REFERENCES \(schema).zgroup ON DELETE SET NULL \
      DEFERRABLE INITIALLY DEFERRED
      """,
    ] { try connection.run([(sql, [])]) }
  }

  /// Inserts items in one transaction.
  func insert(_ rows: [Sample.Row], ofGroups: Bool = false) throws {
    try connection.run([("BEGIN", [])])
    if ofGroups {
      let groups = (0..<(rows.count / Sample.itemsPerGroup)).map { $0 }
      try connection.run([
        (
          "INSERT INTO \(schema).zgroup SELECT k, 1, 1, t FROM unnest($1::bigint[], $2::text[]) AS u(k, t)",
          [.integers(groups.map { Int64($0 + 1) }), .texts(groups.map { "Group \($0)" })]
        )
      ])
    }
    var start = 0
    while start < rows.count {
      let part = rows[start..<min(start + Self.groupSize, rows.count)]
      let groups = part.indices.map { ofGroups ? Int64($0 / Sample.itemsPerGroup + 1) : 0 }
      let sql = """
        INSERT INTO \(schema).zitem SELECT k, 2, 1, nullif(g, 0), q, p, n, t FROM unnest($1::bigint[], $2::bigint[], \
        $3::bigint[], $4::float8[], $5::text[], $6::text[]) AS u(k, g, q, p, n, t)
        """
      try connection.run([
        (
          sql,
          [
            .integers(part.indices.map { Int64($0 + 1) }), .integers(groups), .integers(part.map(\.quantity)),
            .doubles(part.map(\.price)), .texts(part.map(\.name)), .texts(part.map(\.note)),
          ]
        )
      ])
      start += part.count
    }
    try connection.run([("COMMIT", [])])
  }

  /// Reads items and returns the sum of their values.
  func read(_ condition: String = "", _ parameters: [PlainConnection.Parameter] = []) throws -> Int64 {
    let sql = """
      SELECT z_pk, z_opt, zgroup, zquantity, zprice, zname, znote FROM \(schema).zitem \(condition)
      """
    guard let rows = try connection.run([(sql, parameters)]).first else { return 0 }
    var sum: Int64 = 0
    for row in 0..<rows.count {
      sum &+= Sample.sum(rows.integer(row, 3), rows.double(row, 4), rows.text(row, 5), rows.text(row, 6))
    }
    return sum
  }
}
