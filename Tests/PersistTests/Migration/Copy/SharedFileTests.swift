import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Copying a large value to several attributes", .aboutFilesOfLargeValues)
struct SharedFileTests {
  private static func item(_ name: String, _ photos: String...) -> EntityDescription {
    EntityDescription(
      name,
      attributes: [.init("name", .string)] + photos.map { .init($0, .binary, allowsExternalStorage: true) })
  }

  /// Migrates an object with a large photo by a mapping model, and gives a context of the new version to `body`.
  private func migrate(
    to entities: [EntityDescription], _ change: (inout MappingModel) throws -> Void,
    _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let versions = [
      ModelVersion(name: "1", model: try model(Self.item("Item", "photo"))),
      ModelVersion(name: "2", model: try ManagedObjectModel(ModelDescription(entities: entities))),
    ]
    try withTemporaryStore { url in
      let old = PersistentStoreCoordinator(model: versions[0].model)
      let store = try old.addStore(at: url)
      let context = ManagedObjectContext(old)
      try context.make("Item", ["name": "a", "photo": Self.photo])
      try context.save()
      try old.remove(store)
      var mapping = try MappingModel.inferred(from: versions[0].model, to: versions[1].model)
      (mapping.sourceVersion, mapping.destinationVersion) = ("1", "2")
      try change(&mapping)
      try AutomaticMigrator(mappingModels: [mapping])
        .migrate(storeAt: url, to: versions[1], registry: ModelRegistry(versions: versions))
      let new = PersistentStoreCoordinator(model: versions[1].model)
      try new.addStore(at: url)
      try body(ManagedObjectContext(new))
    }
  }

  private static let photo = Data(repeating: 7, count: 200_000)

  @Test("Two attributes with one source have separate files: changing one keeps the other")
  func attributes() throws {
    try migrate(to: [Self.item("Item", "photo", "original")]) { mapping in
      try mapping.edit("IEM_Transform_Item") { try $0.map("original", to: "$source.photo") }
    } _: { context in
      let item = try #require(context.fetch(FetchRequest<ManagedObject>("Item")).first)
      item["photo"] = Data([1])
      try context.save()
      context.refreshAllObjects()
      #expect(item["original"] as? Data == Self.photo)
    }
  }

  @Test("Two entities with one source have separate files: deleting an object keeps the other's value")
  func entities() throws {
    try migrate(to: [Self.item("Item", "photo"), Self.item("Copy", "photo")]) { mapping in
      try mapping.removeEntityMapping("IEM_Add_Copy")
      var copy = try #require(mapping.entityMappings.first { $0.destinationEntityName == "Item" })
      copy.name = "ItemToCopy"
      copy.destinationEntityName = "Copy"
      copy.destinationEntityVersionHash = nil
      mapping.entityMappings.append(copy)
    } _: { context in
      for item in try context.fetch(FetchRequest<ManagedObject>("Item")) { context.delete(item) }
      try context.save()
      let copies = try context.fetch(FetchRequest<ManagedObject>("Copy"))
      #expect(copies.map { $0["photo"] as? Data } == [Self.photo])
    }
  }
}
