import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Pairs of relationships that are their own inverse")
struct SymmetricPairsTests {
  @Test(
    "A mapping for only one end's entity copies the pairs in both directions, by SQL and object by object",
    arguments: [false, true])
  func oneEntityMapped(isOrdered: Bool) throws {
    let peers = RelationshipDescription(
      name: "peers", destination: "Person", inverse: "peers", minimumCount: 0, maximumCount: 0, isOrdered: isOrdered)
    let model = try model(
      EntityDescription("Person", attributes: [.init("name", .string)], relationships: [peers]),
      EntityDescription("Boss", parent: "Person"))
    var mapping = try MappingModel.inferred(from: model, to: model)
    for index in mapping.entityMappings.indices where mapping.entityMappings[index].sourceEntityName == "Boss" {
      mapping.entityMappings[index].relationshipMappings = []
    }
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      try MadeStore.make(model, at: url)
      try MadeStore.fill(model, at: url, rows: 8, seed: 3)
      func pairs(_ content: StoreContent) -> Set<StoreContent.Pair> {
        content.pairs("Person", "peers").union(content.pairs("Boss", "peers"))
      }
      let before = pairs(try StoreContent(of: model, at: url))
      let kept = before.filter { $0.owner.entity == "Person" || $0.member.entity == "Person" }
      #expect(kept.contains { $0.owner.entity == "Boss" } && kept.count < before.count)
      for goesByObject in [false, true] {
        let target = folder.appendingPathComponent("\(goesByObject).sqlite")
        try MigrationManager(sourceModel: model, destinationModel: model).migrateStore(
          from: url, to: target, mappingModel: mapping, policies: [], coreDataHashes: nil, goesByObject: goesByObject)
        try #expect(pairs(StoreContent(of: model, at: target)) == kept)
        var problems: [StoreProblem] = []
        try checkStore(
          at: target, registry: ModelRegistry(versions: [ModelVersion(name: "1", model: model)])
        ) { problems.append($0) }
        #expect(problems == [])
      }
    }
  }
}
