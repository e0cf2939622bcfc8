import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  /// Several threads that read while another one writes.
  static let threads = [
    Workload(
      name: "threads",
      summary: "walk all rows and read 3 texts in each of 4 threads, while another one commits 100 updates",
      rows: 100_000, target: 1.4, start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let coordinator = PersistentStoreCoordinator(model: try Samples.items)
          try coordinator.addStore(at: setting.file, options: BenchmarkKey.options())
          let newContext = { @Sendable in
            ManagedObjectContext(coordinator, classes: ["Item": SampleItem.self])
          }
          return {
            try besideWriter {
              let context = newContext()
              for (number, item) in try context.fetch(FetchRequest<SampleItem>("Item", limit: updates)).enumerated() {
                item.quantity = Int64(number)
                try context.save()
              }
            } read: {
              var sum = Checksum()
              try newContext().forEachBatch(of: SampleItem.all) { items in
                for item in items { sum.add(texts: item.code ?? "", item.name ?? "", item.note ?? "") }
              }
              return sum.value
            }
          }
        },
        .sqlite: { setting in
          let path = setting.file.path
          return {
            try besideWriter {
              let database = PlainSQLite(path)
              let statement = database.prepare(
                "UPDATE ZITEM SET ZQUANTITY = ?, Z_OPT = 2 WHERE Z_PK = ? AND Z_OPT = 1")
              for number in 0..<updates {
                sqlite3_bind_int64(statement, 1, Int64(number))
                sqlite3_bind_int64(statement, 2, Int64(number + 1))
                database.check(sqlite3_step(statement))
                sqlite3_reset(statement)
              }
              sqlite3_finalize(statement)
            } read: {
              let database = PlainSQLite(path)
              let statement = database.prepare("SELECT \(PlainSQLite.columns) FROM ZITEM")
              defer { sqlite3_finalize(statement) }
              var sum = Checksum()
              while sqlite3_step(statement) == SQLITE_ROW {
                sum.add(
                  texts: PlainSQLite.text(statement, 7), PlainSQLite.text(statement, 8), PlainSQLite.text(statement, 9))
              }
              return sum.value
            }
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try besideWriter {
              for number in 0..<updates {
                try pool.write { database in
                  guard var item = try ItemRecord.fetchOne(database, key: Int64(number + 1)) else { return }
                  item.quantity = Int64(number)
                  item.version += 1
                  try item.update(database, columns: ["ZQUANTITY", "Z_OPT"])
                }
              }
            } read: {
              try pool.read { database in
                var sum = Checksum()
                let items = try ItemRecord.everything.fetchCursor(database)
                while let item = try items.next() { sum.add(texts: item.code, item.name, item.note) }
                return sum.value
              }
            }
          }
        },
      ],
      shortfall: """
        Each row becomes an object with its identity, which is freed with its batch. Four readers and the writer share \
        the processors.
        """)
  ]

  private static let readers = 4
  private static let updates = 100

  /// Runs all threads to their end.
  ///
  /// - Returns: The sum of the readers' checksums.
  private static func besideWriter(
    _ write: @Sendable () throws -> Void, read: @Sendable () throws -> UInt64
  ) throws -> UInt64 {
    let results = Results()
    DispatchQueue.concurrentPerform(iterations: readers + 1) { thread in
      let result = Result { () throws -> UInt64 in
        if thread == 0 { try write() }
        return thread == 0 ? 0 : try read()
      }
      results.add(result)
    }
    return try results.sum()
  }

  /// `@unchecked Sendable`: the list is only accessed while the lock is locked.
  private final class Results: @unchecked Sendable {
    private let lock = NSLock()
    private var results: [Result<UInt64, any Error>] = []

    func add(_ result: Result<UInt64, any Error>) { lock.withLock { results.append(result) } }
    func sum() throws -> UInt64 { try lock.withLock { try results.reduce(0) { try $0 &+ $1.get() } } }
  }
}

extension Checksum {
  fileprivate mutating func add(texts first: String, _ second: String, _ third: String) {
    add(first)
    add(second)
    add(third)
  }
}
