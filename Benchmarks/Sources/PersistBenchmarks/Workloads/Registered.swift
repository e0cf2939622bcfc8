import Foundation
import Persist

/// Work whose cost must not depend on the number of objects in a context.
extension Workload {
  static let registered = [
    Workload(
      name: "smallSave", summary: "1,000 saves of one object among 100,000 registered ones, against 1,000",
      rows: 100_000, target: 1.05, measure: .timeOverFewer(registered: 1_000), start: .items, scales: false,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let items = try context.fetch(FetchRequest<SampleItem>("Item", limit: setting.rows))
          return {
            for number in 0..<1_000 {
              items[number * 7 % 1_000].quantity = Int64(number)
              try context.save()
            }
            return 0
          }
        }
      ],
      shortfall: """
        Both execute the same number of instructions, within 0.3 %, as counted. The rest is access to memory.
        """),
    Workload(
      name: "merge", summary: "merge 1,000 saved objects 20 times into a context of 100,000, against one of 1,000",
      rows: 100_000, target: 1.1, measure: .timeOverFewer(registered: 1_000), start: .items, scales: false,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let items = try context.fetch(FetchRequest<SampleItem>("Item", limit: setting.rows))
          for item in items { _ = item.quantity }
          let saved = SavedChanges(updated: Set(items.prefix(1_000).map(\.objectID)))
          let other = ManagedObjectContext(context.persistentStoreCoordinator, classes: ["Item": SampleItem.self])
          for item in try other.fetch(FetchRequest<SampleItem>("Item", limit: 1_000)) { item.quantity = 4711 }
          try other.save()
          return {
            for _ in 0..<20 { context.mergeChanges(from: saved) }
            return items.prefix(1_000).reduce(0) { $0 &+ UInt64($1.quantity) }
          }
        }
      ]),
  ]
}
