import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Inverses split among several entities, and merged")
struct DividedInverseTests {
  @Test(
    "A relationship that moves down to two entities keeps the order that its inverse had for both",
    arguments: [HierarchyModel.Kind.manyToManyBothOrdered, .manyToOneOrdered])
  func order(kind: HierarchyModel.Kind) throws {
    var model = HierarchyModel()
    model.kind = kind
    let old = try model.model()
    model.declaring = ["Cat", "Dog"]
    let new = try model.model()
    var unsorted = 0
    try withFilledStores(of: old) { url, folder, seed in
      // The reverse of the order of the keys.
      let places = Set(
        TableMap.forNewStore(old).tables.flatMap { place in
          place.orderColumns.values.map { [place.table, $0] }
        })
      for place in places { try MadeStore.run("UPDATE \(place[0]) SET \(place[1]) = -\(place[1])", at: url) }
      let before = try StoreContent(of: old, at: url)
      let dogs = Set(before.values.keys.filter { $0.entity == "Dog" }.map(\.key))
      let wanted = before.lists.compactMapValues { $0["back"]?.filter(dogs.contains) }.filter { !$0.value.isEmpty }
      unsorted += wanted.values.filter { $0 != $0.sorted() }.count
      for way in Way.allCases {
        let result = try migrate(url, old, new, way, in: folder)
        let lists = try StoreContent(of: new, at: result).lists.compactMapValues { $0["backDog"] }
        #expect(lists == wanted, "seed \(seed), \(way)")
      }
    }
    #expect(unsorted > 0)
  }

  @Test(
    "Two relationships that move up to one keep the order that each of their inverses had",
    arguments: [HierarchyModel.Kind.manyToManyBothOrdered, .manyToOneOrdered])
  func mergedOrder(kind: HierarchyModel.Kind) throws {
    var model = HierarchyModel()
    model.kind = kind
    let new = try model.model()
    model.declaring = ["Cat", "Dog"]
    let old = try model.model()
    var unsorted = 0
    try withFilledStores(of: old) { url, folder, seed in
      let before = try StoreContent(of: old, at: url)
      for way in Way.allCases {
        let result = try migrate(url, old, new, way, in: folder)
        let lists = try StoreContent(of: new, at: result).lists
        for name in ["back", "backDog"] {
          let wanted = before.lists.compactMapValues { $0[name] }
          unsorted += wanted.values.filter { $0 != $0.sorted() }.count
          for (object, list) in wanted {
            let found = lists[object]?["back"]?.filter(list.contains)
            #expect(found == list, "seed \(seed), \(way), \(object).\(name)")
          }
        }
      }
    }
    #expect(unsorted > 0)
  }

  /// Runs `body` with one filled store after another, each in a separate folder.
  private func withFilledStores(
    of model: ManagedObjectModel, _ body: (_ url: URL, _ folder: URL, _ seed: UInt64) throws -> Void
  ) throws {
    for seed in UInt64(1)...8 {
      try withTemporaryFolder { folder in
        let url = folder.appendingPathComponent("Store.sqlite")
        try MadeStore.make(model, at: url)
        try MadeStore.fill(model, at: url, rows: 5, seed: seed)
        try body(url, folder, seed)
      }
    }
  }

  private enum Way: String, CaseIterable { case inPlace, copy, objects }

  /// - Returns: A migrated copy of the store.
  private func migrate(
    _ url: URL, _ old: ManagedObjectModel, _ new: ManagedObjectModel, _ way: Way, in folder: URL
  ) throws -> URL {
    let result = folder.appendingPathComponent("\(way.rawValue).sqlite")
    if way == .objects {
      try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
        from: url, to: result, mappingModel: .inferred(from: old, to: new), policies: [], coreDataHashes: nil,
        goesByObject: true)
      return result
    }
    try FileManager.default.copyItem(at: url, to: result)
    let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
    var migrator = AutomaticMigrator()
    migrator.alwaysCopies = way == .copy
    try migrator.migrate(storeAt: result, to: versions[1], registry: ModelRegistry(versions: versions))
    return result
  }
}
