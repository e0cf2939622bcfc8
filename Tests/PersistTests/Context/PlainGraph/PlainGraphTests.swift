import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The object graph beside a plain one")
struct PlainGraphTests {
  @Test(
    "Whatever is edited, undone, saved, refreshed and done in children, memory and the store are as the plain graph",
    .law("plain-graph", short: 6, long: 100))
  func oneContext() {
    forEachSeed { seed in try PlainRun.take(LawSteps.count(short: 200, long: 600), seed: seed) }
  }

  @Test(
    "Whatever several contexts change and save, each merges the others' changes under its own as the plain graph does",
    .law("plain-merging", short: 6, long: 100))
  func severalContexts() {
    forEachSeed { seed in try PlainMergeRun.take(LawSteps.count(short: 200, long: 600), seed: seed) }
  }

  @Test(
    "Whatever two contexts change of the same, the second one's save leaves what its merge policy says",
    .law("plain-conflicts", short: 6, long: 100))
  func conflicts() {
    forEachSeed { seed in try PlainConflictRun.take(LawSteps.count(short: 30, long: 100), seed: seed) }
  }

  @Test(
    "Whatever new objects have the unique values of rows or of one another, the store has what the merge policy says",
    .law("plain-upserts", short: 8, long: 200))
  func upserts() {
    forEachSeed { seed in try PlainUpsertRun.take(LawSteps.count(short: 40, long: 200), seed: seed) }
  }
}
