import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Losses of later hops")
struct LaterLossTests {
  private static func version(_ name: String, _ entities: EntityDescription...) throws -> ModelVersion {
    ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
  }

  private func text(_ name: String, was former: String? = nil) -> AttributeDescription {
    .init(name, .string, renamingIdentifier: former)
  }

  /// A store of five notes, of which three have a title and two of these are long, and two tags.
  private func losses(
    _ second: ModelVersion, _ third: ModelVersion, _ change: (inout MappingModel) throws -> Void = { _ in }
  ) throws -> [String] {
    let first = try Self.version(
      "1", EntityDescription("Note", attributes: [text("title"), text("body")]),
      EntityDescription("Tag", attributes: [text("name")]))
    var mappings = try [
      MappingModel.inferred(from: first.model, to: second.model),
      MappingModel.inferred(from: second.model, to: third.model),
    ]
    (mappings[0].sourceVersion, mappings[0].destinationVersion) = ("1", "2")
    (mappings[1].sourceVersion, mappings[1].destinationVersion) = ("2", "3")
    try change(&mappings[0])
    return try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: first.model)
      let store = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for title in ["Tea", "Tea and honey", "A long title", nil, nil] {
        let note = try context.create("Note")
        note["title"] = title
        note["body"] = "text"
      }
      for name in ["a", "b"] { try context.create("Tag")["name"] = name }
      try context.save()
      try coordinator.remove(store)
      let registry = ModelRegistry(versions: [first, second, third])
      let plan = try MigrationPlan(
        storeAt: url, to: third, registry: registry, migrator: AutomaticMigrator(mappingModels: mappings))
      #expect(plan.hops.count == 2)
      return plan.losses.map(\.description)
    }
  }

  @Test("An entity, an attribute and an attribute under its former name are counted in the store's rows")
  func traced() throws {
    let second = try Self.version(
      "2", EntityDescription("Note", attributes: [text("heading", was: "title"), text("body")]),
      EntityDescription("Tag", attributes: [text("name")]))
    let third = try Self.version("3", EntityDescription("Note", attributes: [text("body")]))
    #expect(
      try losses(second, third).sorted()
        == ["Note.heading: attribute removed, 3 rows", "Tag: entity removed, 2 rows"])
  }

  @Test("A filter of the first hop, constants and defaults count, and an expression has no number")
  func filtered() throws {
    let attributes = [text("title"), text("body")]
    let second = try Self.version("2", EntityDescription("Note", attributes: attributes))
    let third = try Self.version("3", EntityDescription("Note", attributes: [text("body")]))
    let removed = "Note.title: attribute removed"
    func last(_ change: @escaping (inout EntityMapping) throws -> Void) throws -> String? {
      try losses(second, third) { try $0.edit("Note", change) }.last
    }
    #expect(
      try last { $0.sourceExpression = .sourceObjects(of: "Note", where: "title CONTAINS 'a'") }
        == removed + ", 2 rows")
    #expect(try last { try $0.map("title", to: "'constant'") } == removed + ", 5 rows")
    #expect(try last { try $0.map("title", to: "uppercase:($source.title)") } == removed)
  }

  @Test("A loss without rows is none")
  func empty() throws {
    let second = try Self.version(
      "2", EntityDescription("Note", attributes: [text("title"), text("body"), text("extra")]),
      EntityDescription("Tag", attributes: [text("name")]), EntityDescription("New", attributes: [text("name")]))
    let third = try Self.version(
      "3", EntityDescription("Note", attributes: [text("title"), text("body"), text("other")]),
      EntityDescription("Tag", attributes: [text("name")]))
    #expect(try losses(second, third) == [])
  }
}
