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

  @Test("A device that is two renames behind gets changes of the newest version, and sends its own")
  func twoBehind() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let devices = [try device("a", 2, folder, isIdentified: true), try device("b", 0, folder, isIdentified: true)]
      for (version, device) in zip([2, 0], devices) {
        let context = ManagedObjectContext(device.coordinator)
        let object = try context.create(entity(version))
        (object["id"], object["text"]) = (version, "of \(version)")
        try context.save()
      }
      for device in devices + devices { try await device.replica.synchronize(with: hub) }
      for (version, device) in zip([2, 0], devices) {
        let objects = try ManagedObjectContext(device.coordinator).fetch(
          FetchRequest<ManagedObject>(entity(version), sortedBy: "id"))
        #expect(objects.map { $0["text"] as? String } == ["of 0", "of 2"], "\(version)")
      }
    }
  }

  @Test("A store that is migrated during its first synchronization has each object once")
  func migratedMeanwhile() async throws {
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let first = try device("a", 0, folder, isIdentified: false)
      let context = ManagedObjectContext(first.coordinator)
      for number in 0..<2500 { try context.create("Note")["text"] = "\(number)" }
      try context.save()
      var history: CapturePass.BirthHistory?
      // Of two steps for the identities and two for the values, one is left.
      for _ in 0..<3 { _ = try first.replica.work.bearNext(&history) }
      try first.close()
      let updated = try device("a", 2, folder, isIdentified: false)
      let other = try device("b", 0, folder, isIdentified: false)
      for device in [updated, other, updated] { try await device.replica.synchronize(with: hub) }
      #expect(try other.contents().count == 2500)
      #expect(Set(try other.contents()).count == 2500)
      #expect(try updated.contents().count == 2500)
      #expect(try updated.outdatedRows().isEmpty)
    }
  }
}
