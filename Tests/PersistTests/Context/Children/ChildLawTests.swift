import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Whatever is changed, saved, discarded and merged at three levels of contexts, each level and a newly created child
/// show the expected state in every form of fetch.
@Suite("Laws of child contexts")
struct ChildLawTests {
  @Test("Random changes at every level keep the laws", .law("children", short: 8, long: 300))
  func laws() {
    forEachSeed { seed in
      try withStack(DraftGraph.model) { stack in
        var run = try ChildRun(stack, seed: seed)
        for _ in 0..<(TestLength.isLong ? 200 : 60) { try run.step() }
        try run.saveEverything()
        let reopened = try stack.reopened()
        try run.check(reopened.context(), shows: 0, "the store after reopening")
      }
    }
  }
}
