import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: convergence")
struct ConvergenceLawTests {
  @Test(
    "Replicas that have received everything are equal, whatever was changed, copied, put back, updated and interrupted",
    .law("sync-convergence", short: 20, long: 10_000))
  func convergence() async throws {
    await forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let setting = SyncRun.Setting(&random)
      let steps = (0..<setting.extent.steps(upTo: 60, &random)).map { _ in SyncRun.Step(&random) }
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
