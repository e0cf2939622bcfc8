import Foundation
import PersistTestSupport
import Synchronization
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Safety of migration")
struct MigrationSafetyTests {
  /// Two versions with every kind of change between them: columns, numbers, join tables, a rewritten table.
  private func versions() throws -> ModelRegistry {
    let old = try model(
      EntityDescription(
        "Mark",
        attributes: [
          AttributeDescription("a", .string), AttributeDescription("b", .int32), AttributeDescription("c", .string),
        ],
        relationships: [
          RelationshipDescription("folder", to: "Folder", inverse: "marks"),
          RelationshipDescription("tags", toMany: "Tag", inverse: "marks"),
        ]),
      EntityDescription("Folder", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: "folder")]),
      EntityDescription("Tag", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: "tags")]))
    let new = try model(
      EntityDescription("Aardvark"),
      EntityDescription(
        "Mark", attributes: [AttributeDescription("b", .double), AttributeDescription("d", .string)],
        relationships: [
          RelationshipDescription("folders", toMany: "Folder", inverse: "marks", renamingIdentifier: "folder"),
          RelationshipDescription("tags", toMany: "Tag", inverse: "marks"),
        ]),
      EntityDescription(
        "Folder", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: "folders")]),
      EntityDescription("Tag", relationships: [RelationshipDescription("marks", toMany: "Mark", inverse: "tags")]))
    return ModelRegistry(versions: [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)])
  }

  private func store(_ registry: ModelRegistry, at url: URL) throws -> StoreDump {
    let model = registry.versions[0].model
    try MadeStore.make(model, at: url)
    try MadeStore.fill(model, at: url, rows: 20, seed: 7)
    return try StoreDump(of: model, at: url)
  }

  @Test("A process killed at any step leaves the complete old version, and the next attempt works")
  func killed() throws {
    let registry = try versions()
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let before = try store(registry, at: url)
      // The files at a moment are what a process leaves if it is killed then.
      let images = LockProtected<[URL]>([])
      let migrator = AutomaticMigrator { progress in
        // Then it is too late.
        if progress.pass == .done { return true }
        images.withLock { images in
          let image = folder.appendingPathComponent("killed-\(images.count)")
          try? FileManager.default.createDirectory(at: image, withIntermediateDirectories: true)
          for name in ["Store.sqlite", "Store.sqlite-wal"] {
            try? FileManager.default.copyItem(
              at: folder.appendingPathComponent(name), to: image.appendingPathComponent(name))
          }
          images.append(image)
        }
        return true
      }
      let report = try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let after = try StoreDump(of: registry.versions[1].model, at: url)
      #expect(report.from == "1")
      #expect(report.to == "2")
      let found = images.withLock { $0 }
      #expect(found.count > 10)
      for image in found {
        let copy = image.appendingPathComponent("Store.sqlite")
        try #expect(StoreDump(of: registry.versions[0].model, at: copy) == before)
        try #expect(MadeStore.rows("PRAGMA integrity_check", at: copy) == [["ok"]])
        try AutomaticMigrator().migrate(storeAt: copy, to: registry.versions[1], registry: registry)
        try #expect(StoreDump(of: registry.versions[1].model, at: copy) == after)
      }
    }
  }

  @Test("A migration canceled at any step changes nothing")
  func cancelled() throws {
    let registry = try versions()
    // A server takes fewer steps.
    for step in TestEngine.current == .sqlite ? [1, 2, 5, 9, 14] : [1, 2, 5, 9] {
      try withTemporaryStore { url in
        let before = try store(registry, at: url)
        let calls = Atomic<Int>(0)
        let migrator = AutomaticMigrator { _ in calls.wrappingAdd(1, ordering: .relaxed).newValue < step }
        let error = #expect(throws: PersistenceError.self) {
          try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
        }
        #expect(error?.code == .migrationCancelled)
        try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)
        try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      }
    }
  }

  @Test("Progress never decreases and ends at one")
  func progress() throws {
    let registry = try versions()
    try withTemporaryStore { url in
      _ = try store(registry, at: url)
      let fractions = LockProtected<[Double]>([])
      let migrator = AutomaticMigrator { progress in
        fractions.withLock { $0.append(progress.fraction) }
        return true
      }
      try migrator.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let found = fractions.withLock { $0 }
      #expect(found == found.sorted())
      #expect(found.last == 1)
    }
  }

  @Test("Another process that writes makes it wait, and then fail with a message")
  func busy() throws {
    let registry = try versions()
    try withTemporaryStore { url in
      let before = try store(registry, at: url)
      let other = try RawStore(url)
      defer { other.close() }
      try other.transaction {
        try other.execute("UPDATE ZMARK SET Z_OPT = Z_OPT")
        let error = #expect(throws: PersistenceError.self) {
          try AutomaticMigrator().migrate(
            storeAt: url, to: registry.versions[1], registry: registry, options: StoreOptions(busyTimeout: .zero))
        }
        #expect(error?.code == .storeBusy)
      }
      try #expect(StoreDump(of: registry.versions[0].model, at: url) == before)
    }
  }
}
