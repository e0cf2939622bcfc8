import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Inferred mapping models")
struct InferenceTests {
  private let department = EntityDescription(
    "Department", attributes: [.init("name", .string)],
    relationships: [.init("employees", toMany: "Employee", inverse: "department")])

  private func staff(_ attributes: AttributeDescription...) throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Employee", attributes: [.init("name", .string), .init("salary", .int32)] + attributes,
        relationships: [.init("department", to: "Department", inverse: "employees")]),
      department)
  }

  @Test("INF-01: a changed entity is transformed, an unchanged one copied, every destination attribute is mapped")
  func transformAndCopy() throws {
    let mapping = try MappingModel.inferred(
      from: staff(.init("hireDate", .date)), to: staff(.init("title", .string)))
    #expect(Set(mapping.entityMappings.map(\.name)) == ["IEM_Transform_Employee", "IEM_Copy_Department"])
    let employee = try mapping.entityMapping("Employee")
    #expect(employee.type == .transform)
    #expect(Set(employee.attributeMappings.map(\.name)) == ["name", "salary", "title"])
    #expect(employee.attributeMapping(named: "name")?.valueExpression == .source("name"))
    #expect(employee.attributeMapping(named: "title")?.valueExpression == nil)
    #expect(
      employee.relationshipMappings == [
        PropertyMapping(
          "department",
          valueExpression: .destinationInstances(ofMapping: "IEM_Copy_Department", for: .source("department")))
      ])
    #expect(mapping.entityMappingsByName["IEM_Copy_Department"]?.type == .copy)
  }

  @Test("INF-02: a missing entity is removed and a new one added")
  func removeAndAdd() throws {
    let mapping = try MappingModel.inferred(
      from: model(EntityDescription("Removed", attributes: [.init("a", .string)])),
      to: model(EntityDescription("Added", attributes: [.init("b", .string)])))
    #expect(mapping.entityMappings.map(\.name) == ["IEM_Add_Added", "IEM_Remove_Removed"])
    #expect(mapping.entityMappings.map(\.type) == [.add, .remove])
  }

  @Test("INF-07: an attribute that moves to a separate entity, and a renamed entity, are inferred")
  func newEntityAndRename() throws {
    let first = try model(
      EntityDescription("User", attributes: [.init("name", .string, isOptional: false), .init("petName", .string)]))
    let pet = EntityDescription(
      "Pet", attributes: [.init("name", .string, isOptional: false)],
      relationships: [.init("owner", to: "User", inverse: "pet")])
    func user(_ attributes: AttributeDescription...) -> EntityDescription {
      EntityDescription(
        "User", attributes: [.init("name", .string, isOptional: false)] + attributes,
        relationships: [.init("pet", to: "Pet", inverse: "owner")])
    }
    let second = try model(user(.init("petName", .string)), pet)
    let third = try model(user(), pet)
    #expect(try MappingModel.inferred(from: first, to: second).entityMappings.count == 2)
    #expect(try MappingModel.inferred(from: second, to: third).entityMappings.count == 2)
    let renamed = try MappingModel.inferred(
      from: model(EntityDescription("Old", attributes: [.init("a", .string)])),
      to: model(EntityDescription("New", renamingIdentifier: "Old", attributes: [.init("a", .string)])))
    #expect(renamed.entityMappings.map(\.sourceEntityName) == ["Old"])
    #expect(renamed.entityMappings.map(\.destinationEntityName) == ["New"])
  }

  @Test("INF-08: a new optional attribute of the only entity makes one entity mapping")
  func oneEntity() throws {
    let mapping = try MappingModel.inferred(
      from: model(EntityDescription("Person", attributes: [.init("name", .string)])),
      to: model(EntityDescription("Person", attributes: [.init("name", .string), .init("age", .int32)])))
    #expect(mapping.entityMappings.count == 1)
  }

  @Test("If no mapping can be inferred, the error gives the reason for every property")
  func refusal() throws {
    let error = #expect(throws: PersistenceError.self) {
      try MappingModel.inferred(
        from: model(EntityDescription("E", attributes: [.init("a", .string), .init("b", .string)])),
        to: model(EntityDescription("E", attributes: [.init("a", .date), .init("b", .int16)])))
    }
    #expect(error?.code == .mappingNotInferable)
    #expect(error?.errors.compactMap(\.place.property).sorted() == ["a", "b"])
  }

  @Test("INF-04, INF-05: cars are inferred from version to version", .needsSharedData)
  func cars() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("cars/Fixtures/SampleModel.momd"))
    let models = registry.versions.map(\.model)
    try #require(models.count == 3)
    let first = try MappingModel.inferred(from: models[0], to: models[1])
    #expect(
      first.entityMappings.first { $0.destinationEntityName == "LuxuryCar" }?.sourceEntityName == "ExpensiveSportCar")
    let second = try MappingModel.inferred(from: models[1], to: models[2])
    #expect(second.entityMappings.first { $0.destinationEntityName == "Maker" }?.type == .add)
  }
}
