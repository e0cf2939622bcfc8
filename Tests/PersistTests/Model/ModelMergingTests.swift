import Testing

@testable import Persist
@testable import PersistModel

@Suite("Merged models and their configurations")
struct ModelMergingTests {
  private func model(
    _ entities: [EntityDescription], configurations: [String: [String]] = [:], identifier: String = "1"
  ) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: entities, configurations: configurations, versionIdentifiers: [identifier]))
  }

  private let item = EntityDescription("Item", attributes: [AttributeDescription("name", .string)])
  private let tag = EntityDescription("Tag", attributes: [AttributeDescription("text", .string)])
  private let note = EntityDescription("Note", attributes: [AttributeDescription("body", .string)])

  @Test("A merged model has every entity once, joined configurations and all version identifiers")
  func merged() throws {
    let merged = try ManagedObjectModel(byMerging: [
      model([item, tag], configurations: ["Cloud": ["Item"], "Local": ["Tag"]]),
      model([tag, note], configurations: ["Local": ["Tag", "Note"]], identifier: "2"),
    ])
    #expect(merged.entities.map(\.name) == ["Item", "Note", "Tag"])
    #expect(merged.configurations == ["Cloud", "Local"] && merged.versionIdentifiers == ["1", "2"])
    #expect(merged.entities(forConfigurationName: "Local")?.map(\.name) == ["Note", "Tag"])
    #expect(merged.entities(forConfigurationName: nil)?.count == 3)
    #expect(merged.entities(forConfigurationName: "Nowhere") == nil)
    let alone = try model([item, tag])
    try #expect(ManagedObjectModel(byMerging: [alone]).description == alone.description)
    try #expect(ManagedObjectModel(byMerging: []).entities.isEmpty)
  }

  @Test("Different entities of the same name are refused, all at once and by name")
  func contradictions() throws {
    let other = EntityDescription("Item", attributes: [AttributeDescription("title", .string)])
    let third = EntityDescription("Tag", attributes: [])
    let error = try #require(
      persistError { _ = try ManagedObjectModel(byMerging: [model([item, tag]), model([other, third])]) })
    #expect(error.code == .invalidModel)
    #expect(error.errors.map(\.place.entity) == ["Item", "Tag"])
  }

  @Test("Models with flaws are merged: those that others don't resolve are flaws of the merged model")
  func flaws() throws {
    let limits = AttributeValidation(minimum: .integer(9), maximum: .integer(1))
    let box = EntityDescription(
      "Box", attributes: [AttributeDescription("count", .int32, validation: limits)],
      uniquenessConstraints: [["gone"]])
    let flawed = try ManagedObjectModel(
      withFlaws: ModelDescription(entities: [box], configurations: ["Local": ["Box", "Tag"], "Cloud": ["Lost"]]))
    #expect(flawed.flaws.count == 4)
    let merged = try ManagedObjectModel(byMerging: [flawed, model([item, tag]), flawed])
    #expect(merged.entities.map(\.name) == ["Box", "Item", "Tag"])
    let messages = merged.flaws.map(\.message)
    #expect(messages.count == 3 && Set(messages).isSubset(of: flawed.flaws.map(\.message)))
    #expect(!messages.contains { $0.contains("'Tag'") })
    #expect(merged.entities(forConfigurationName: "Local")?.map(\.name) == ["Box", "Tag"])
  }

  @Test("Properties by name are those of the entity and of its parents")
  func byName() throws {
    let special = EntityDescription(
      "Special", parent: "Item", attributes: [AttributeDescription("count", .int32)],
      relationships: [RelationshipDescription("tags", toMany: "Tag")])
    let entity = try model([item, tag, special]).entity(named: "Special")
    #expect(entity.attributesByName.mapValues(\.type) == ["name": .string, "count": .int32])
    #expect(entity.relationshipsByName.mapValues(\.destination) == ["tags": "Tag"])
    #expect(Set(entity.propertiesByName.keys) == ["name", "count", "tags"])
  }
}
