import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Single changes")
struct SingleChangeTests {
  @Test(
    "Every kind of change, forward and back, keeps what it doesn't say it loses, in place as by copy",
    .law("migration-single-changes", short: 80, long: 1200))
  func changes() {
    let all = SingleChange.all
    var possible = 0
    let count = forEachSeed { seed in
      // Neighbours in the list are alike; seeds that follow each other try different kinds.
      let change = all[Int((seed &* 7919) % UInt64(all.count))]
      guard let old = try? change.old.model(), let new = try? change.new.model() else { return }
      if try ChangeLaw(name: change.name, old: old, new: new, seed: seed).run() { possible += 1 }
    }
    #expect(possible > count / 2 || count < 20)
  }
}

@Suite("Random reshaping")
struct RandomReshapingTests {
  @Test(
    "Whatever hierarchies and relationships become, nothing goes without being said, in place as by copy",
    .law("migration-reshaping", short: 25, long: 1500))
  func reshaping() {
    var possible = 0
    let count = forEachSeed { seed in
      var models = RandomModels(seed: seed)
      for _ in 0..<2 { models.attempt { $0.addTwins() } }
      let old = try models.model()
      models.reshape()
      let new = try models.model()
      do {
        _ = try ModelCorrespondence(from: old, to: new)
      } catch let error as PersistenceError where error.code == .mappingAmbiguous {
        return
      }
      if try ChangeLaw(name: "seed \(seed)", old: old, new: new, rows: 5, seed: seed).run() { possible += 1 }
    }
    #expect(possible > count / 4 || count < 20)
  }
}
