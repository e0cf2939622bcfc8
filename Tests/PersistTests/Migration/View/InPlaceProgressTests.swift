import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law, by a clock that advances by the cost of each piece of work: at every moment, the fraction that was reported
/// last differs from the time by at most half of the longest work that reports nothing, and an interval of the reports.
@Suite("Progress of a migration in place")
struct InPlaceProgressTests {
  @Test("The fraction follows time at every moment", .law("progress-follows-time", short: 200, long: 20_000))
  func followsTime() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let reports = LockProtected<[Double]>([])
      let parts = (0..<Int.random(in: 0...4, using: &random)).map { _ in
        InPlaceProgress.Part(
          rows: .random(in: 1...1000, using: &random), costOfRow: .random(in: 1...40, using: &random),
          costOfRemoval: .random(in: 0...20, using: &random),
          entriesOfRow: (0..<Int.random(in: 0...3, using: &random)).map { _ in .random(in: 1...40, using: &random) })
      }
      let silent = (0..<3).map { _ in Int64.random(in: 0...20_000, using: &random) }
      var progress = InPlaceProgress(
        preparation: silent[0], parts, completion: silent[1], commit: silent[2],
        hop: .init(number: 1, count: 1, from: "1", to: "2")
      ) { state in
        reports.withLock { $0.append(state.fraction) }
        return true
      }
      let total = Double(max(1, parts.reduce(silent.reduce(0, +)) { $0 + $1.cost }))
      var clock = 0.0
      var worst = 0.0
      /// Lets time pass without a report.
      func pass(_ cost: Double) {
        let shown = reports.withLock { $0.last ?? 0 }
        worst = max(worst, abs(shown - clock / total), abs(shown - (clock + cost) / total))
        clock += cost
      }
      _ = progress.question("", entity: nil)?(0)
      pass(Double(silent[0]))
      progress.begin()
      for part in parts {
        let question = progress.question("", entity: nil)
        _ = question?(0)
        for step in 0..<part.rows * Int64(1 + part.indexes) {
          pass(Double(step < part.rows ? part.costOfRow : part.entriesOfRow[Int(step / part.rows) - 1]))
          if step % 10 == 0 { _ = question?(step + 1) }
          if step == part.rows - 1 { pass(Double(part.rows * part.costOfRemoval)) }
        }
        progress.advance()
      }
      progress.beginCompletion()
      _ = progress.question("", entity: nil)?(0)
      pass(Double(silent[1]))
      progress.beginCommit()
      _ = progress.question("", entity: nil)?(0)
      pass(Double(silent[2]))
      let longest = (silent + parts.map { $0.rows * $0.costOfRemoval }).max() ?? 0
      // The removal's half and the reports' intervals are rounded.
      let bound = Double(longest) / 2 + 40 * 40
      #expect(worst * total <= bound, "\(worst * total), \(bound)")
      let found = reports.withLock { $0 }
      #expect(found == found.sorted() && found.allSatisfy { (0...1).contains($0) })
    }
  }
}
