import Foundation
import GRDB
import Persist

extension Workload {
  static let streaming = [
    Workload(
      name: "stream", summary: "walk 1,000,000 rows in batches and read 8 properties", rows: 1_000_000, target: 1.4,
      peakTarget: 32 << 20, start: .items,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          return {
            var sum = Checksum()
            try context.forEachBatch(of: SampleItem.all) { items in
              for item in items { item.add(to: &sum) }
            }
            return sum.value
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return { database.readAll() }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.read { database in
              var sum = Checksum()
              let items = try ItemRecord.everything.fetchCursor(database)
              while let item = try items.next() { item.add(to: &sum) }
              return sum.value
            }
          }
        },
      ],
      shortfall: """
        Each row becomes an object with its identity, which is released with its batch. Reading a property asks \
        whether an observer tracks it, which takes as long as copying a number.
        """)
  ]
}
