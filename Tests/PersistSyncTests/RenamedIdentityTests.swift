import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: identities across renames")
struct RenamedIdentityTests {
  private let registry: ModelRegistry

  init() throws {
    let names = ["Note", "Memo", "Card", "Card"]
    registry = ModelRegistry(
      versions: try names.enumerated().map { place, name in
        let former = place > 0 && names[place - 1] != name ? names[place - 1] : nil
        let entity = EntityDescription(
          name, renamingIdentifier: former, attributes: [.init("id", .int64), .init("text", .string)])
        let extra = place == 3 ? [EntityDescription("Other", attributes: [.init("id", .int64)])] : []
        let model = try ManagedObjectModel(
          ModelDescription(entities: [entity] + extra, versionIdentifiers: ["\(place)"]))
        return ModelVersion(name: "\(place)", model: model)
      })
  }

  private func device(_ name: String, _ version: Int, _ folder: URL, isIdentified: Bool) throws -> Device {
    let model = registry.versions[version].model
    return try Device(
      folder.appendingPathComponent("\(name).sqlite"), model,
      identifiedBy: isIdentified ? [model.entities.first { $0.name != "Other" }?.name ?? "": "id"] : [:],
      registry: ModelRegistry(versions: Array(registry.versions[...version])))
  }

  private func entity(_ version: Int) -> String { ["Note", "Memo", "Card", "Card"][version] }

  @Test("Versions after several renames of an entity know the same object by its identifying value")
  func identified() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try (0..<4).map { try device("\($0)", $0, folder, isIdentified: true) }
      for (version, device) in devices.enumerated() {
        let context = ManagedObjectContext(device.coordinator)
        let object = try context.create(entity(version))
        (object["id"], object["text"]) = (7, "of \(version)")
        try context.save()
      }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for (version, device) in devices.enumerated() {
        let context = ManagedObjectContext(device.coordinator)
        let found = try context.fetch(FetchRequest<ManagedObject>(entity(version)))
        #expect(found.map { $0["text"] as? String } == ["of 3"], "\(version)")
      }
    }
  }

  @Test("Copies of one store that programs of several versions open for the first time share its objects")
  func copies() async throws {
    try await withTemporaryFolder { folder in
      let seed = try device("seed", 0, folder, isIdentified: false)
      let context = ManagedObjectContext(seed.coordinator)
      for number in 0..<3 { try context.create("Note")["id"] = number }
      try context.save()
      try seed.close()
      for version in 0..<4 { try seed.copyFiles(to: folder.appendingPathComponent("\(version).sqlite")) }
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = try (0..<4).map { try device("\($0)", $0, folder, isIdentified: false) }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for (version, device) in devices.enumerated() {
        let count = try ManagedObjectContext(device.coordinator).count(
          for: FetchRequest<ManagedObject>(entity(version)))
        #expect(count == 3, "\(version)")
      }
    }
  }
}
