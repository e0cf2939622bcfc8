import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Migrations with unreadable model files")
struct UnreadableModelTests {
  /// Writes versions whose only attribute is renamed from each to the next: `a`, `b`, `c`.
  private func writeChain(to folder: URL) throws {
    for (name, attribute, former) in [("M", "a", "a"), ("M 2", "b", "a"), ("M 3", "c", "b")] {
      try write(
        """
        <model><entity name="E">\
        <attribute name="\(attribute)" optional="YES" attributeType="String" elementID="\(former)"/></entity></model>
        """, to: folder.appendingPathComponent("M.xcdatamodeld/\(name).xcdatamodel/contents"))
    }
  }

  private func write(_ text: String, to url: URL) throws {
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  /// Runs `body` with the folder of the chain and a store of its first version that contains a row.
  private func withChain(_ body: (_ models: URL, _ store: URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      try withTemporaryStore { store in
        try writeChain(to: folder)
        let registry = try ModelRegistry(contentsOf: folder)
        let coordinator = PersistentStoreCoordinator(model: try registry.version(named: "M").model, registry: registry)
        let added = try coordinator.addStore(at: store)
        let context = ManagedObjectContext(coordinator)
        ManagedObject(entity: "E", context: context)["a"] = "kept"
        try context.save()
        try coordinator.remove(added)
        try body(folder, store)
      }
    }
  }

  /// Expects that the store isn't migrated because of a file.
  private func expectRefusal(_ models: URL, _ store: URL, naming file: String) throws {
    let registry = try ModelRegistry(contentsOf: models)
    let coordinator = PersistentStoreCoordinator(model: registry.current, registry: registry)
    let error = #expect(throws: PersistenceError.self) {
      try coordinator.addStore(at: store, options: .automaticMigration)
    }
    #expect(error?.message.contains(file) == true, "\(error?.description ?? "")")
    let plan = try MigrationPlan(storeAt: store, registry: registry)
    #expect(!plan.isPossible)
    #expect(plan.blockers.first?.what.contains(file) == true)
    let versions = try (registry.version(named: "M"), registry.version(named: "M 3"))
    let notes = try MigrationPlan(from: versions.0, to: versions.1, registry: registry).notes
    #expect(notes.contains { $0.contains(file) })
    // A store that needs no migration can be opened.
    let former = PersistentStoreCoordinator(model: versions.0.model, registry: registry)
    let opened = try former.addStore(at: store, options: .automaticMigration)
    let context = ManagedObjectContext(former)
    #expect(try context.fetch(FetchRequest("E")).map { $0["a"] as? String } == ["kept"])
    try former.remove(opened)
  }

  @Test("A version that can't be read and might record a renaming")
  func version() throws {
    try withChain { models, store in
      try write("<broken", to: models.appendingPathComponent("M.xcdatamodeld/M 2.xcdatamodel/contents"))
      try expectRefusal(models, store, naming: "M 2.xcdatamodel")
    }
  }

  @Test("A version that can't be read, and a current model from another source", arguments: [true, false])
  func otherSource(_ isAdded: Bool) throws {
    try withChain { models, store in
      try write("<broken", to: models.appendingPathComponent("M.xcdatamodeld/M 2.xcdatamodel/contents"))
      let attribute = AttributeDescription("c", .string, isOptional: true, renamingIdentifier: "b")
      let model = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("E", attributes: [attribute])]))
      let files = try ModelRegistry(contentsOf: models)
      let registry = isAdded ? files.adding(ModelVersion(name: "Classes", model: model)) : files
      #expect(registry.problems.count == 1)
      let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
      let error = #expect(throws: PersistenceError.self) {
        try coordinator.addStore(at: store, options: .automaticMigration)
      }
      #expect(error?.message.contains("M 2.xcdatamodel") == true, "\(error?.description ?? "")")
    }
  }

  @Test("A mapping model that can't be read", arguments: ["M 2-M 3.xcmappingmodel/xcmapping.xml", "2to3.cdm"])
  func mappingModel(_ file: String) throws {
    try withChain { models, store in
      try write("<broken", to: models.appendingPathComponent(file))
      try expectRefusal(models, store, naming: String(file.split(separator: "/")[0]))
    }
  }

  @Test("Unreadable versions of another family don't matter")
  func otherFamily() throws {
    try withChain { models, store in
      let other = models.appendingPathComponent("Other.xcdatamodeld")
      try write("<broken", to: other.appendingPathComponent("Other.xcdatamodel/contents"))
      try write(
        "<model><entity name=\"Other\"/></model>", to: other.appendingPathComponent("Other 2.xcdatamodel/contents"))
      let registry = try ModelRegistry(contentsOf: models)
      #expect(registry.problems.count == 1)
      let model = try registry.family(named: "M").current.model
      let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
      try coordinator.addStore(at: store, options: .automaticMigration)
      let context = ManagedObjectContext(coordinator)
      #expect(try context.fetch(FetchRequest("E")).map { $0["c"] as? String } == ["kept"])
    }
  }
}
