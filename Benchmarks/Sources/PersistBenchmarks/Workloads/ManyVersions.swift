import Foundation
import Persist

extension Workload {
  static let manyVersions = [
    Workload(
      name: "registry", summary: "read a folder of 117 model versions of 88 entities, open a store of the current one",
      rows: 117, target: 20, peakTarget: 10 << 20, measure: .milliseconds, start: .manyVersions, scales: false,
      leastRounds: 9,
      parts: [
        .persist: { setting in
          let models = StartingStore.models(beside: setting.file)
          return {
            let registry = try ModelRegistry(contentsOf: models)
            let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
            let store = try coordinator.addStore(at: setting.file, options: BenchmarkKey.options(.automaticMigration))
            try coordinator.remove(store)
            return UInt64(registry.current.entities.count)
          }
        }
      ],
      shortfall: """
        The current version's file is parsed, and the layout of its 88 tables is computed. The process's own memory \
        grows by 1.4 MB; the rest of the peak is pages of the program's file, 64 KB for each first use of a piece of code.
        """)
  ]
}
