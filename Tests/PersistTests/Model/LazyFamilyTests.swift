import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Lazy reading of model families")
struct LazyFamilyTests {
  /// A family of versions `M 1` to `M 9`, the last of which is current; one in between can't be read.
  private func withFamily(_ body: (URL, URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("M.xcdatamodeld")
      for number in 1...9 {
        let attributes = (1...number).map { "<attribute name=\"a\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
        let text = number == 5 ? "<model><entity/></model>" : "<model><entity name=\"E\">\(attributes.joined())</entity></model>"
        let version = models.appendingPathComponent("M \(number).xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: version.appendingPathComponent("contents"))
      }
      let current =
        "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>M 9.xcdatamodel</string></dict></plist>"
      try Data(current.utf8).write(to: models.appendingPathComponent(".xccurrentversion"))
      try body(models, folder.appendingPathComponent("Store.sqlite"))
    }
  }

  private func readVersions(_ registry: ModelRegistry) -> [String] {
    registry.families.flatMap(\.contents.files).filter { $0.loaded != nil }.map(\.name)
  }

  @Test("A store of the current version needs no other version, each time it is opened")
  func current() throws {
    try withFamily { models, url in
      for _ in 1...2 {
        let registry = try ModelRegistry(contentsOf: models)
        #expect(readVersions(registry) == ["M 9"])
        let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
        try coordinator.remove(coordinator.addStore(at: url, options: .automaticMigration))
        #expect(readVersions(registry) == ["M 9"])
        try #expect(registry.version(named: "M 3").name == "M 3")
        #expect(readVersions(registry) == ["M 3", "M 9"])
      }
    }
  }

  @Test("A store of an older version is migrated past a version that can't be read")
  func older() throws {
    try withFamily { models, url in
      let first = try ModelRegistry(contentsOf: models).version(named: "M 2")
      try MadeStore.make(first.model, at: url)
      let registry = try ModelRegistry(contentsOf: models)
      let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
      try coordinator.remove(coordinator.addStore(at: url, options: .automaticMigration))
      try MadeStore.expectNewStore(of: registry.current, at: url)
      #expect(registry.problems.count == 1)
      #expect(registry.versions.count == 8)
    }
  }

  @Test("Many threads read a family at once, and each version once")
  func threads() async throws {
    try await withThrowingTaskGroup(of: [ObjectIdentifier].self) { group in
      let version = LockProtected(0)
      let files = try (1...20).map { number in
        let model = try ManagedObjectModel(ModelDescription(entities: [EntityDescription("E\(number)")]))
        return VersionFile("M \(number)", url: URL(fileURLWithPath: "/M")) { _ in
          version.withLock { $0 += 1 }
          return ModelVersion(name: "M \(number)", model: model)
        }
      }
      let versions = FamilyVersions(files, family: "M", isOrdered: false)
      for _ in 1...8 {
        group.addTask { versions.all.versions.map { ObjectIdentifier($0.model) } }
      }
      var found: Set<[ObjectIdentifier]> = []
      for try await identities in group { found.insert(identities) }
      #expect(found.count == 1)
      #expect(version.withLock { $0 } == 20)
    }
  }
}
