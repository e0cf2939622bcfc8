import Foundation
import Persist

/// The cost of a history: the same work with and without it.
extension Workload {
  static let history = [
    historyWorkload(
      "historyInsert", "create objects, set 8 properties, save; against no history", .none,
      shortfall: """
        The history has a row for each object too, and an index entry that leads from the transaction to it: two \
        insertions into trees beside one.
        """
    ) { setting, tracksHistory in
      let context = try Samples.context(setting.file, Samples.items, tracksHistory: tracksHistory)
      let rows = SampleRow.rows(setting.rows)
      return {
        for row in rows { SampleItem(context: context).take(row) }
        try context.save()
        return 0
      }
    },
    historyWorkload(
      "historyUpdate", "change one property of all and save; against no history", .items,
      shortfall: "Each changed row is a new row of the history, with an index entry."
    ) { setting, tracksHistory in
      let context = try Samples.context(setting.file, Samples.items, tracksHistory: tracksHistory)
      let items = try context.fetch(SampleItem.all)
      return {
        for (number, item) in items.enumerated() { item.quantity = Int64(number) }
        try context.save()
        return 0
      }
    },
    historyWorkload(
      "historyDelete", "delete all and save; against no history", .items,
      shortfall: """
        Deleting a row is the cheapest statement there is. For each, the history gets a row and an index entry.
        """
    ) { setting, tracksHistory in
      let context = try Samples.context(setting.file, Samples.items, tracksHistory: tracksHistory)
      let items = try context.fetch(SampleItem.all)
      return {
        for item in items { context.delete(item) }
        try context.save()
        return 0
      }
    },
    historyWorkload(
      "historySmallSaves", "one save for every 10 changed objects; against no history", .items, target: 1.6,
      shortfall: """
        Each save also writes a row of its own with entries in two indexes, the rows of its changes with their index, \
        and the counters, as Core Data does. Each of these is a page of the log, and the save itself writes few. Nine \
        tenths of the additional instructions are SQLite's: insertions, balancing of indexes, checksums of the log.
        """
    ) { setting, tracksHistory in
      let context = try Samples.context(setting.file, Samples.items, tracksHistory: tracksHistory)
      let items = try context.fetch(SampleItem.all)
      return {
        for (number, item) in items.enumerated() {
          item.quantity = Int64(number)
          if number % 10 == 9 { try context.save() }
        }
        try context.save()
        return 0
      }
    },
  ]

  private static func historyWorkload(
    _ name: String, _ summary: String, _ start: StartingStore, target: Double = 1.35, shortfall: String? = nil,
    _ part: @escaping @Sendable (Setting, _ tracksHistory: Bool) throws -> Work
  ) -> Workload {
    Workload(
      name: name, summary: summary, target: target, measure: .timeOverBasis, start: start, scales: false,
      parts: [.persist: { try part($0, true) }], basis: { try part($0, false) },
      shortfall: shortfall)
  }
}
