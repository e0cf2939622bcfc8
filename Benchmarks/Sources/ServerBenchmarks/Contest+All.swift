import Persist

extension Contest {
  static var all: [Contest] {
    [insert, fetch, update, delete, saveOne, fault, walk]
  }

  private static var insert: Contest {
    Contest(
      name: "insert", summary: "create objects and save, against `unnest` of whole columns", target: 1.5,
      persist: { setting in
        let context = try Sample.context(setting, items: 0)
        let rows = Sample.rows(setting.rows)
        return {
          for row in rows { Item(context: context).take(row) }
          try context.save()
          return 0
        }
      },
      plain: { setting in
        let store = try PlainStore(setting.url, schema: setting.schema)
        try store.create()
        let rows = Sample.rows(setting.rows)
        return {
          try store.insert(rows)
          return 0
        }
      })
  }

  private static var fetch: Contest {
    Contest(
      name: "fetch", summary: "fetch all objects and read every value, against one binary result", target: 1.8,
      persist: { setting in
        let context = try Sample.context(setting, items: setting.rows)
        return {
          var sum: Int64 = 0
          for item in try context.fetch(FetchRequest<Item>("Item")) { sum &+= Self.sum(of: item) }
          return sum
        }
      }, plain: { setting in
        let store = try filled(setting)
        return { try store.read() }
      })
  }

  private static var update: Contest {
    Contest(
      name: "update", summary: "change one value of every object and save, against `unnest` with versions", target: 1.6,
      persist: { setting in
        let context = try Sample.context(setting, items: setting.rows)
        let items = try context.fetch(FetchRequest<Item>("Item"))
        for item in items { item.quantity += 1 }
        return {
          try context.save()
          return 0
        }
      },
      plain: { setting in
        let store = try filled(setting)
        let keys = (1...Int64(setting.rows)).map { $0 }
        let sql = """
          UPDATE \(setting.schema).zitem AS t SET z_opt = t.z_opt + 1, zquantity = u.q \
          FROM unnest($1::bigint[], $2::bigint[]) AS u(k, q) WHERE t.z_pk = u.k AND t.z_opt = 1
          """
        return {
          try store.connection.run([("BEGIN", []), (sql, [.integers(keys), .integers(keys)]), ("COMMIT", [])])
          return 0
        }
      })
  }

  private static var delete: Contest {
    Contest(
      name: "delete", summary: "delete every object and save, against `= ANY` with versions", target: 1.5,
      persist: { setting in
        let context = try Sample.context(setting, items: setting.rows)
        for item in try context.fetch(FetchRequest<Item>("Item")) { context.delete(item) }
        return {
          try context.save()
          return 0
        }
      },
      plain: { setting in
        let store = try filled(setting)
        let keys = (1...Int64(setting.rows)).map { $0 }
        let sql = "DELETE FROM \(setting.schema).zitem WHERE z_pk = ANY($1::bigint[]) AND z_opt = 1"
        return {
          try store.connection.run([("BEGIN", []), (sql, [.integers(keys)]), ("COMMIT", [])])
          return 0
        }
      })
  }

  private static var saveOne: Contest {
    Contest(
      name: "saveOne", summary: "500 saves of one object, against one flight each that notices conflicts", target: 1.3,
      persist: { setting in
        let context = try Sample.context(setting, items: 500)
        let items = try context.fetch(FetchRequest<Item>("Item"))
        return {
          for item in items {
            item.quantity += 1
            try context.save()
          }
          return 0
        }
      },
      plain: { setting in
        let store = try PlainStore(setting.url, schema: setting.schema)
        try store.create()
        try store.insert(Sample.rows(500))
        // As in Persist, a conflict undoes the transaction, and its outcome can be asked for after a lost connection.
        let number = "SELECT pg_current_xact_id()::text"
        let sql = """
          WITH changed AS (UPDATE \(setting.schema).zitem SET z_opt = z_opt + 1, zquantity = $2 \
          WHERE z_pk = $1 AND z_opt = 1 RETURNING 1) SELECT 1 / (count(*) = 1)::int FROM changed
          """
        return {
          for key in 1...Int64(500) {
            try store.connection.run([
              ("BEGIN", []), (number, []), (sql, [.integer(key), .integer(key)]), ("COMMIT", []),
            ])
          }
          return 0
        }
      })
  }

  private static var fault: Contest {
    Contest(
      name: "fault", summary: "10,000 faults, 1 ms away from the server, against one `= ANY`", target: 3,
      persist: { setting in
        let writing = try Sample.context(setting, items: 10_000)
        let ids = try writing.fetchObjectIDs(FetchRequest<Item>("Item"))
        let context = try Sample.context(setting.distantURL, schema: setting.schema)
        return {
          var sum: Int64 = 0
          for case let item as Item in ids.map({ context.object(with: $0) }) { sum &+= Self.sum(of: item) }
          return sum
        }
      },
      plain: { setting in
        let near = try PlainStore(setting.url, schema: setting.schema)
        try near.create()
        try near.insert(Sample.rows(10_000))
        let store = try PlainStore(setting.distantURL, schema: setting.schema)
        let keys = (1...Int64(10_000)).map { $0 }
        return { try store.read("WHERE z_pk = ANY($1::bigint[])", [.integers(keys)]) }
      })
  }

  private static var walk: Contest {
    Contest(
      name: "walk", summary: "groups and their 20 items, by relationships, against a join", target: 2,
      persist: { setting in
        let context = try Sample.context(setting, items: setting.rows, inGroups: true)
        return {
          var sum: Int64 = 0
          for group in try context.fetch(FetchRequest<Group>("Group")) {
            sum &+= Int64((group.title ?? "").utf8.count)
            for item in group.items { sum &+= Self.sum(of: item) }
          }
          return sum
        }
      },
      plain: { setting in
        let store = try PlainStore(setting.url, schema: setting.schema)
        try store.create()
        try store.insert(Sample.rows(setting.rows), ofGroups: true)
        let sql = """
          SELECT g.z_pk, g.ztitle, i.zquantity, i.zprice, i.zname, i.znote FROM \(setting.schema).zgroup AS g \
          JOIN \(setting.schema).zitem AS i ON i.zgroup = g.z_pk ORDER BY g.z_pk
          """
        return {
          guard let rows = try store.connection.run([(sql, [])]).first else { return 0 }
          var sum: Int64 = 0
          var last: Int64 = 0
          for row in 0..<rows.count {
            if rows.integer(row, 0) != last { sum &+= Int64(rows.text(row, 1).utf8.count) }
            last = rows.integer(row, 0)
            sum &+= Sample.sum(rows.integer(row, 2), rows.double(row, 3), rows.text(row, 4), rows.text(row, 5))
          }
          return sum
        }
      })
  }

  private static func sum(of item: Item) -> Int64 {
    Sample.sum(item.quantity, item.price, item.name ?? "", item.note ?? "")
  }

  private static func filled(_ setting: Setting) throws -> PlainStore {
    let store = try PlainStore(setting.url, schema: setting.schema)
    try store.create()
    try store.insert(Sample.rows(setting.rows))
    return store
  }
}
