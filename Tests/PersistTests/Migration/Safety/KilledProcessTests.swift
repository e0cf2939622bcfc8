import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Migration in a process that is killed", .serialized, .onOwnThread)
struct KilledProcessTests {
  /// The basis of every kind of kill: the law, and the duration of a whole migration.
  private struct Kind {
    let law: DisturbedMigration
    let duration: Double
  }

  @Test(
    "A process killed at a random moment leaves the old or the new version, complete",
    .law("killed-migrations", short: 14, long: 1000))
  func killed() throws {
    try withTemporaryFolder { folder in
      var kinds: [UInt64: Kind] = [:]
      var ends = 0
      let count = forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        let ways = MigrationScenario.Way.allCases
        let number = seed % UInt64(ways.count * 2)
        let kind = try kinds[number] ?? make(ways[Int(number) / 2], hasLog: number % 2 == 0, in: folder)
        kinds[number] = kind
        let moment = Double.random(in: 0...kind.duration * 1.1, using: &random)
        let (store, _, wasKilled) = try kind.law.runProcess(in: folder, killAfter: moment)
        if !wasKilled { ends += 1 }
        try kind.law.expectWhole(store, "killed after \(moment) s")
        try FileManager.default.removeItem(at: store.deletingLastPathComponent())
      }
      print("\(ends) of \(count) processes came to their end")
    }
  }

  private func make(_ way: MigrationScenario.Way, hasLog: Bool, in folder: URL) throws -> Kind {
    let own = folder.appendingPathComponent("\(way)-\(hasLog)")
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    let law = try DisturbedMigration(way, in: own, marks: 200, hasLog: hasLog)
    let durations = try (0..<2).map { _ in try law.runProcess(in: own, killAfter: nil).duration }
    return Kind(law: law, duration: durations.max() ?? 0)
  }
}
