import PersistTestSupport
import Testing

@testable import Persist

@Suite("The object graph beside a plain one")
struct PlainGraphTests {
  @Test(
    "Whatever is edited, undone, saved, refreshed and done in children, memory and the store are as the plain graph",
    .law("plain-graph", short: 6, long: 100))
  func oneContext() {
    forEachSeed { seed in
      try withStack(PlainSchema.model) { stack in
        var run = PlainRun(stack, seed: seed)
        for _ in 0..<(TestLength.isLong ? 600 : 200) { try run.step() }
        try run.end()
      }
    }
  }

  @Test(
    "Whatever several contexts change and save, each merges the others' changes under its own as the plain graph does",
    .law("plain-merging", short: 6, long: 100))
  func severalContexts() {
    forEachSeed { seed in
      try withStack(PlainSchema.model) { stack in
        var run = PlainMergeRun(stack, seed: seed)
        for _ in 0..<(TestLength.isLong ? 600 : 200) { try run.step() }
        try run.end()
      }
    }
  }

  @Test(
    "Whatever two contexts change of the same, the second one's save leaves what its merge policy says",
    .law("plain-conflicts", short: 6, long: 100))
  func conflicts() {
    forEachSeed { seed in
      try withStack(PlainSchema.model) { stack in
        var run = PlainConflictRun(stack, seed: seed)
        for _ in 0..<(TestLength.isLong ? 100 : 30) { try run.round() }
        try run.end()
      }
    }
  }

  @Test(
    "Whatever new objects have the unique values of rows or of one another, the store has what the merge policy says",
    .law("plain-upserts", short: 8, long: 200))
  func upserts() {
    forEachSeed { seed in
      try withStack(PlainUpsertRun.model) { stack in
        var run = try PlainUpsertRun(stack, seed: seed)
        for _ in 0..<(TestLength.isLong ? 200 : 40) { try run.round() }
        try run.end()
      }
    }
  }
}
