import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Editing mapping models")
struct MappingEditingTests {
  private func shop(_ attributes: AttributeDescription..., version: String) throws -> ModelVersion {
    let item = EntityDescription(
      "Item", attributes: [.init("name", .string)] + attributes,
      relationships: [.init("maker", to: "Maker", inverse: "items")])
    let maker = EntityDescription(
      "Maker", attributes: [.init("name", .string)], relationships: [.init("items", toMany: "Item", inverse: "maker")])
    return ModelVersion(name: version, model: try model(item, maker))
  }

  private func inferred() throws -> MappingModel {
    try .inferred(
      from: shop(.init("price", .double), version: "1").model, to: shop(.init("cents", .int64), version: "2").model)
  }

  /// The message and the advice of the error.
  private func words(_ body: () throws -> Void) throws -> String {
    let error = try #require(throws: PersistenceError.self, performing: body)
    return error.message + " " + (error.fix ?? "")
  }

  @Test("The entity, or the mapping's own name, names the mapping to edit")
  func names() throws {
    for name in ["Item", "IEM_Transform_Item"] {
      var mapping = try inferred()
      try mapping.edit(name) { try $0.map("cents", to: "$source.price * 100") }
      let item = try mapping.entityMapping("Item")
      #expect(item.attributeMapping(named: "cents")?.valueExpression == (try FetchExpression("$source.price * 100")))
      let before = try inferred().entityMapping("Item")
      #expect(item.attributeMappings.map(\.name) == before.attributeMappings.map(\.name))
      #expect(item.attributeMapping(named: "name")?.valueExpression == .source("name"))
    }
  }

  @Test("A relationship's mapping is replaced where it is")
  func relationships() throws {
    var mapping = try inferred()
    try mapping.edit("Item") { $0.map("maker", to: nil) }
    let item = try mapping.entityMapping("Item")
    #expect(item.relationshipMappings == [PropertyMapping("maker", valueExpression: nil)])
    #expect(item.attributeMapping(named: "maker") == nil)
  }

  @Test(
    "A wrong name is an error that lists all names, and changes nothing",
    arguments: ["ItemToItem", "item", "", "Shop"])
  func wrongName(name: String) throws {
    var mapping = try inferred()
    for body: (inout MappingModel) throws -> Void in [
      { try $0.edit(name) { $0.attributeMappings = [] } }, { _ = try $0.entityMapping(name) },
      { try $0.removeEntityMapping(name) },
    ] {
      let words = try words { try body(&mapping) }
      #expect(words.contains("'IEM_Transform_Item' (creates Item)"))
      #expect(words.contains("_Maker' (creates Maker)"))
    }
    #expect(mapping == (try inferred()))
  }

  @Test("An entity that several mappings create doesn't name one of them, but their own names do")
  func severalMappings() throws {
    var mapping = try inferred()
    var second = try mapping.entityMapping("Item")
    second.name = "CheapToItem"
    mapping.entityMappings.append(second)
    let words = try words { try mapping.edit("Item") { $0.userInfo = [:] } }
    #expect(words.contains("Several") && words.contains("IEM_Transform_Item") && words.contains("CheapToItem"))
    #expect(!words.contains("Maker"))
    try mapping.removeEntityMapping("CheapToItem")
    #expect(mapping == (try inferred()))
  }

  @Test("An error within an edit leaves the mapping as it was")
  func failingEdit() throws {
    var mapping = try inferred()
    #expect(throws: PersistenceError.self) {
      try mapping.edit("Item") { item in
        item.attributeMappings = []
        try item.map("cents", to: "$source.price *")
      }
    }
    #expect(mapping == (try inferred()))
  }

  /// The error of the plan for a store without rows.
  private func planError(_ change: (inout EntityMapping) throws -> Void) throws -> PersistenceError? {
    let versions = [try shop(.init("price", .double), version: "1"), try shop(.init("cents", .int64), version: "2")]
    var mapping = try inferred()
    try mapping.edit("Item", change)
    let migrator = AutomaticMigrator(mappingModels: [mapping])
    return try withTemporaryStore { url in
      try MadeStore.make(versions[0].model, at: url)
      let registry = ModelRegistry(versions: versions)
      return try MigrationPlan(storeAt: url, to: versions[1], registry: registry, migrator: migrator).error
    }
  }

  @Test("A misspelled property, and one of the other kind, are errors of the plan")
  func wrongProperty() throws {
    #expect(try planError { try $0.map("cents", to: "$source.price * 100") } == nil)
    let misspelled = try planError { try $0.map("cnets", to: "$source.price * 100") }
    #expect(misspelled?.message.contains("cnets") == true)
    let maker = PropertyMapping("maker", valueExpression: .source("maker"))
    #expect(try planError { $0.attributeMappings.append(maker) }?.fix?.contains("relationshipMappings") == true)
    let cents = PropertyMapping("cents", valueExpression: .source("price"))
    #expect(try planError { $0.relationshipMappings.append(cents) }?.fix?.contains("attributeMappings") == true)
  }

  @Test(
    "A misspelled variable or relationship in an expression is an error of the plan, and names what exists",
    arguments: [
      ("$soruce.price", "$soruce", "$source"), ("1 + $item.price", "$item", "$manager"),
      ("TERNARY($source.price > 1, $source.price, FUNCTION($manager, "
        + "'destinationInstancesForSourceRelationshipNamed:sourceInstances:', 'makers', $source.maker))",
        "'makers'", "relationship"),
      ("SUBQUERY($source.maker.items, $i, $j.price > 1).@count", "$j", "$source"),
    ])
  func wrongNameInExpression(expression: String, wrong: String, right: String) throws {
    let error = try planError { try $0.map("cents", to: expression) }
    #expect(error?.message.contains(wrong) == true, "\(String(describing: error))")
    #expect(error?.fix?.contains(right) == true, "\(String(describing: error))")
  }

  @Test("Variables that an expression binds itself, and all of a mapping's own, are no errors")
  func rightNames() throws {
    for expression in [
      "SUBQUERY($source.maker.items, $i, $i.price > 1).@count", "$entityMapping.name == 'x' OR $manager != NIL",
      "$source.price + 0", "1",
    ] {
      let text = expression.contains("OR") ? "TERNARY(\(expression), 1, 2)" : expression
      let error = try planError { try $0.map("cents", to: text) }
      #expect(error == nil, "\(text): \(String(describing: error))")
    }
  }
}
