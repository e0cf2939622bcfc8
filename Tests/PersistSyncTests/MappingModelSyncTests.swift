import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: versions with a mapping model")
struct MappingModelSyncTests {
  private let mapping: MappingModel
  private let registry: ModelRegistry
  private let keys = ["Product": "id", "Article": "id"]

  /// The mapping model renames the entity and an attribute, splits one attribute into two, and changes a unit.
  init() throws {
    let old = try ManagedObjectModel(
      ModelDescription(
        entities: [
          EntityDescription(
            "Product",
            attributes: [
              .init("id", .uuid), .init("name", .string), .init("price", .int64), .init("rank", .int32),
              .init("note", .string),
            ])
        ], versionIdentifiers: ["1"]))
    let new = try ManagedObjectModel(
      ModelDescription(
        entities: [
          EntityDescription(
            "Article",
            attributes: [
              .init("id", .uuid), .init("upper", .string), .init("lower", .string), .init("price", .int64),
              .init("level", .int32), .init("note", .string),
            ])
        ], versionIdentifiers: ["2"]))
    registry = ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
    mapping = MappingModel(
      "1to2", from: "1", to: "2",
      entityMappings: [
        EntityMapping(
          from: "Product", to: "Article",
          attributes: [
            try PropertyMapping("id", "$source.id"), try PropertyMapping("upper", "uppercase:($source.name)"),
            try PropertyMapping("lower", "lowercase:($source.name)"),
            try PropertyMapping("price", "$source.price * 100"),
            try PropertyMapping("level", "$source.rank"), try PropertyMapping("note", "$source.note"),
          ])
      ])
  }

  private func device(_ folder: URL, _ name: String, _ version: Int) throws -> Device {
    try Device(
      folder.appendingPathComponent("\(name).sqlite"), registry.versions[version - 1].model,
      identifiedBy: keys.filter { $0.key == (version == 1 ? "Product" : "Article") },
      registry: version == 1 ? ModelRegistry(versions: [registry.versions[0]]) : registry,
      mappingModels: version == 1 ? [] : [mapping])
  }

  private func change(_ device: Device, _ entity: String, _ values: [String: any Sendable]) throws {
    let context = ManagedObjectContext(device.coordinator)
    let object = try context.fetch(FetchRequest<ManagedObject>(entity)).first ?? context.create(entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    try context.save()
  }

  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for _ in 0..<2 {
      for device in devices {
        let report = try await device.replica.synchronize(with: hub)
        #expect(report.refused.isEmpty && report.waiting.isEmpty)
      }
    }
  }

  @Test("Changes of an older version are mapped as the mapping model maps its objects, before and after a migration")
  func split() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (old, new) = (try device(folder, "old", 1), try device(folder, "new", 2))
      try change(old, "Product", ["id": UUID(), "name": "Tea", "price": 3, "rank": 1, "note": "first"])
      try await synchronize([old, new], hub)
      func article(_ device: Device) throws -> ManagedObject {
        let all = try ManagedObjectContext(device.coordinator).fetch(FetchRequest<ManagedObject>("Article"))
        return try #require(all.count == 1 ? all.first : nil)
      }
      func expect(
        _ device: Device, _ upper: String, _ lower: String, _ price: Int, _ level: Int, _ note: String
      ) throws {
        let article = try article(device)
        #expect(article["upper"] as? String == upper && article["lower"] as? String == lower)
        #expect("\(article["price"] ?? 0)" == "\(price)" && "\(article["level"] ?? 0)" == "\(level)")
        #expect(article["note"] as? String == note)
      }
      try expect(new, "TEA", "tea", 300, 1, "first")
      // Both change: the computed value is later for one half, the newer version's own for the other.
      try change(old, "Product", ["name": "Coffee", "rank": 2])
      try await synchronize([old, new], hub)
      try change(new, "Article", ["lower": "a coffee", "note": "second", "price": 350])
      try await synchronize([new, old], hub)
      try expect(new, "COFFEE", "a coffee", 350, 2, "second")
      let product = try #require(
        try ManagedObjectContext(old.coordinator).fetch(FetchRequest<ManagedObject>("Product")).first)
      // The older version doesn't know which of its entities the newer one's is.
      #expect(product["name"] as? String == "Coffee" && product["note"] as? String == "first")
      #expect("\(product["price"] ?? 0)" == "3")
      try change(old, "Product", ["price": 4])
      try old.close()
      let updated = try device(folder, "old", 2)
      try await synchronize([updated, new], hub)
      for device in [updated, new] { try expect(device, "COFFEE", "a coffee", 400, 2, "second") }
      #expect(try updated.contents() == new.contents())
    }
  }
}
