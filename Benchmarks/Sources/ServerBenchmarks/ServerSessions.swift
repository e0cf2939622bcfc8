import Foundation
import LatencyMeasurement
import Persist

/// The contestants' sessions over a schema of items with an index over their quantities.
enum ServerSessions {
  private static let schema = "benchmark_latencies"
  private static let table = "\(schema).item"
  private static let rows = 100_000

  /// Measures all cases and prints them as a table.
  static func measure(_ url: String, seconds: Double) throws {
    let admin = try PlainConnection(url)
    try admin.run([("DROP SCHEMA IF EXISTS \(schema) CASCADE", [])])
    let context = try Sample.context(url, schema: schema)
    for row in Sample.rows(rows) { Item(context: context).take(row) }
    try context.save()
    try admin.run([("CREATE INDEX ON \(table) (quantity NULLS FIRST)", []), ("ANALYZE \(table)", [])])
    print(LatencyResult.heading)
    for latencyCase in LatencyCase.all {
      for (name, maker) in [("Persist", try persist(url)), ("libpq", plain(url))] {
        let result = try latencyCase.measure(seconds: seconds, rows: rows - LatencySession.pageSize, newSession: maker)
        print(result.line(latencyCase, name))
      }
    }
    try admin.run([("DROP SCHEMA \(schema) CASCADE", [])])
  }

  private static func persist(_ url: String) throws -> LatencySession.Maker {
    let opening = try Sample.context(url, schema: schema)
    let coordinator = opening.persistentStoreCoordinator
    let newContext = { @Sendable in
      ManagedObjectContext(coordinator, classes: ["Item": Item.self, "Group": Group.self])
    }
    let identifiers = try opening.fetchObjectIDs(FetchRequest<Item>("Item", sortedBy: "quantity"))
    let template = try FetchPredicate("quantity >= $quantity")
    return { thread in
      try LatencySession(
        newContext, own: identifiers[thread], identifiers: identifiers, name: \Item.name, change: { $0.price += 1 },
        page: { start in
          var request = FetchRequest<Item>("Item", sortedBy: "quantity")
          request.fetchLimit = LatencySession.pageSize
          request.predicate = template.substituting(["quantity": start])
          return request
        })
    }
  }

  /// A connection for each thread, with prepared statements and binary values. A save is one flight that notices
  /// conflicts and whose outcome can be asked for, as Persist's.
  private static func plain(_ url: String) -> LatencySession.Maker {
    { thread in
      let connection = try PlainConnection(url)
      let key = PlainConnection.Parameter.integer
      // The objects of Persist's threads are those with the first quantities.
      let update = """
        WITH changed AS (UPDATE \(table) SET version = version + 1, price = price + 1 \
        WHERE quantity = $1 RETURNING 1) SELECT 1 / (count(*) = 1)::int FROM changed
        """
      let columns = "SELECT id, version, group_id, quantity, price, name, note FROM \(table)"
      func read(_ sql: String, _ number: Int) throws -> Int {
        let rows = try connection.run([(sql, [key(Int64(number))])])
        guard let result = rows.first else { return 0 }
        return (0..<result.count).reduce(0) { $0 + (result.text($1, 5).isEmpty ? 0 : 1) }
      }
      return LatencySession(
        save: {
          try connection.run([
            ("BEGIN", []), ("SELECT pg_current_xact_id()::text", []), (update, [key(Int64(thread))]), ("COMMIT", []),
          ])
        },
        fetch: { try LatencySession.check(try read("\(columns) WHERE id = $1", $0 + 1), of: 1) },
        page: {
          let sql = """
            \(columns) WHERE quantity >= $1 ORDER BY quantity NULLS FIRST, id LIMIT \(LatencySession.pageSize)
            """
          try LatencySession.check(try read(sql, $0))
        })
    }
  }
}
