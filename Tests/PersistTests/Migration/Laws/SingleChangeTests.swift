import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Single changes")
struct SingleChangeTests {
  @Test(
    "Every kind of change, forward and back, keeps everything not reported as lost, in place and by copy",
    .law("migration-single-changes", short: 40, long: 1200))
  func changes() {
    let all = SingleChange.all
    var possible = 0
    let count = forEachSeed { seed in
      // Neighbors in the list are similar; consecutive seeds test different kinds.
      let change = all[Int((seed &* 7919) % UInt64(all.count))]
      guard let old = try? change.old.model(), let new = try? change.new.model() else { return }
      if try ChangeLaw(name: change.name, old: old, new: new, seed: seed).run() { possible += 1 }
    }
    #expect(possible > count / 2 || count < 20)
  }

  @Test("Two attributes keep their values if one of them moves up and the other has its name as an identifier")
  func leftOverIdentifier() throws {
    func model(base: [String], second: [(name: String, was: String?)], first: [String]) throws -> ManagedObjectModel {
      func attributes(_ names: [String]) -> [AttributeDescription] { names.map { .init($0, .date) } }
      return try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Base", attributes: attributes(base)),
          EntityDescription("First", parent: "Base", attributes: attributes(first)),
          EntityDescription(
            "Second", parent: "Base",
            attributes: second.map { .init($0.name, .date, renamingIdentifier: $0.was) }),
        ]))
    }
    let old = try model(base: [], second: [("made", nil), ("sent", nil)], first: ["made"])
    let new = try model(base: ["made"], second: [("sent", "made")], first: [])
    try #expect(ChangeLaw(name: "up", old: old, new: new).run())
    let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
    let plan = try MigrationPlan(from: versions[0], to: versions[1], registry: ModelRegistry(versions: versions))
    #expect(plan.losses == [])
    try #expect(ChangeLaw(name: "down", old: new, new: old).run())
  }
}

@Suite("Random reshaping")
struct RandomReshapingTests {
  @Test(
    "However hierarchies and relationships change, every loss is reported, in place and by copy",
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
