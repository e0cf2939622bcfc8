import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: convergence")
struct ConvergenceLawTests {
  @Test(
    "Replicas that have received everything are equal, whatever was changed, copied, put back, updated and interrupted",
    .law("sync-convergence", short: 8, long: 2000))
  func convergence() async throws {
    await forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      // A quarter of the runs has one version of the model.
      let isPlain = random.next() % 4 == 0
      let steps = (0..<60).map { _ in SyncRun.Step(&random) }
      let setting = SyncRun.Setting(seed: random.next(), versions: isPlain ? 1 : Int.random(in: 2...5, using: &random))
      let faults = await SyncRun.faults(setting, steps)
      guard !faults.isEmpty else { return }
      let (fewer, rest) = await SyncRun.reduced(setting, steps)
      Issue.record(
        """
        \(faults.prefix(4).joined(separator: "\n"))
        Reduced to \(fewer.map { "\($0.kind)" }.joined(separator: ", ")):
        \(rest.prefix(4).joined(separator: "\n"))
        """)
    }
  }
}
