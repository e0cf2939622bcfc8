import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Layout of an existing store")
struct TableMatchTests {
  private func schema(_ tables: [(String, [(String, String)])]) -> StoreSchema {
    StoreSchema(
      tables: tables.map { name, columns in
        StoreSchema.Table(
          name: name, columns: columns.map { StoreSchema.Column(name: $0.0, declaredType: $0.1) })
      })
  }

  private func entity(_ name: String, _ more: [(String, String)]) -> (String, [(String, String)]) {
    (name, [("Z_PK", "INTEGER"), ("Z_ENT", "INTEGER"), ("Z_OPT", "INTEGER")] + more)
  }

  @Test("Columns whose names collided in another order are distinguished by their types")
  func types() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription("Root"),
        EntityDescription("A", parent: "Root", attributes: [AttributeDescription("value", .string)]),
        EntityDescription("B", parent: "Root", attributes: [AttributeDescription("value", .date)]),
      ]))
    let map = TableMap(
      model: model, numbers: .forNewStore(model),
      schema: schema([entity("ZROOT", [("ZVALUE", "TIMESTAMP"), ("ZVALUE1", "VARCHAR")])]))
    #expect(map.differences.isEmpty && map.unexplained.isEmpty)
    #expect(try map[model.entity(named: "A")].columns.map(\.name) == ["ZVALUE1"])
    #expect(try map[model.entity(named: "B")].columns.map(\.name) == ["ZVALUE"])
  }

  @Test("Names of siblings were assigned in the order of the store's numbers, whatever the order of the model's")
  func order() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription("Root"),
        EntityDescription("Zebra", parent: "Root", attributes: [AttributeDescription("text", .string)]),
        EntityDescription("ant", parent: "Root", attributes: [AttributeDescription("text", .string)]),
      ]))
    let rows = ["Root", "ant", "Zebra"].enumerated().map {
      EntityNumbers.Row(number: $0 + 1, name: $1, parent: min($0, 1), maximum: 0)
    }
    let map = TableMap(
      model: model, numbers: EntityNumbers(model: model, rows: rows),
      schema: schema([entity("ZROOT", [("ZTEXT", "VARCHAR"), ("ZTEXT1", "VARCHAR")])]))
    #expect(try map[model.entity(named: "ant")].columns.map(\.name) == ["ZTEXT"])
    #expect(try map[model.entity(named: "Zebra")].columns.map(\.name) == ["ZTEXT1"])
  }

  @Test("Companion columns and join tables are found under an older number")
  func olderNumbers() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Tag", relationships: [
            RelationshipDescription("items", toMany: "Item", inverse: "tags"),
            RelationshipDescription("best", to: "Item", inverse: nil),
          ]),
        EntityDescription(
          "Item", relationships: [RelationshipDescription("tags", toMany: "Tag", inverse: "items", isOrdered: true)]),
        EntityDescription("SpecialItem", parent: "Item"),
      ]))
    let map = TableMap(
      model: model, numbers: .forNewStore(model),
      schema: schema([
        entity("ZITEM", []), entity("ZTAG", [("ZBEST", "INTEGER"), ("Z7_BEST", "INTEGER")]),
        ("Z_9ITEMS", [("Z_9TAGS", "INTEGER"), ("Z_7ITEMS1", "INTEGER"), ("Z_FOK_9TAGS", "INTEGER")]),
      ]))
    #expect(map.differences == [] && map.unexplained == [])
    #expect(try map[model.entity(named: "Tag")].columns.map(\.name) == ["ZBEST", "Z7_BEST"])
    let join = try #require(map.joinTables.first)
    #expect(join.name == "Z_9ITEMS")
    #expect(join.first == .init(entity: "Tag", relationship: "items", column: "Z_9TAGS", orderColumn: nil))
    #expect(
      join.second == .init(entity: "Item", relationship: "tags", column: "Z_7ITEMS1", orderColumn: "Z_FOK_9TAGS"))
  }

  @Test("A join table named for the other side is found, and the two tables of a pair aren't confused")
  func turned() throws {
    func many(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
      RelationshipDescription(name, toMany: destination, inverse: inverse)
    }
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription("Album", relationships: [many("lists", "List", "albums"), many("old", "List", "oldAlbums")]),
        EntityDescription("List", relationships: [many("albums", "Album", "lists"), many("oldAlbums", "Album", "old")]),
      ]))
    let map = TableMap(
      model: model, numbers: .forNewStore(model),
      schema: schema([
        entity("ZALBUM", []), entity("ZLIST", []),
        ("Z_2OLDALBUMS", [("Z_2OLD", "INTEGER"), ("Z_1OLDALBUMS", "INTEGER")]),
        ("Z_2ALBUMS", [("Z_2LISTS", "INTEGER"), ("Z_1ALBUMS", "INTEGER")]),
      ]))
    #expect(map.differences == [] && map.unexplained == [])
    #expect(map.joinTables.map(\.name) == ["Z_2ALBUMS", "Z_2OLDALBUMS"])
    #expect(map.joinTables.map(\.first.column) == ["Z_2LISTS", "Z_2OLD"])
    #expect(map.joinTables.map(\.first.entity) == ["List", "List"])
  }

  @Test("A renamed attribute doesn't use the column of its old name, though only a digit differs")
  func digits() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [EntityDescription("Item", attributes: [AttributeDescription("title", .string)])]))
    let words = TableMap.schemaDifferences(
      model: model, rows: [.init(number: 1, name: "Item", parent: 0, maximum: 0)],
      schema: schema([entity("ZITEM", [("ZTITLE1", "VARCHAR")])]))
    #expect(words.count == 2)
  }

  @Test("Properties without a column, and columns without a property, are reported")
  func differences() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item", attributes: [AttributeDescription("name", .string), AttributeDescription("size", .int16)]),
        EntityDescription("Gone"),
      ]))
    let words = TableMap.schemaDifferences(
      model: model, rows: [.init(number: 1, name: "Item", parent: 0, maximum: 0)],
      schema: schema([
        entity("ZITEM", [("ZNAME", "BLOB"), ("ZCOLOUR", "VARCHAR")]), entity("ZOTHER", []),
        ("ATRANSACTION", [("Z_PK", "INTEGER")]), ("Z_METADATA", [("Z_UUID", "VARCHAR")]), ("mine", [("a", "")]),
      ]))
    #expect(
      words == [
        "The store doesn't list entity 'Gone'.",
        "The store has no table 'ZGONE' for entity 'Gone'.",
        "Column 'ZNAME' of 'ZITEM' has type BLOB, which is VARCHAR for Item.name.",
        "Table 'ZITEM' has no column 'ZSIZE' (INTEGER) for Item.size.",
        "No part of the model corresponds to column 'ZCOLOUR' of 'ZITEM'.",
        "No part of the model corresponds to table 'ZOTHER'.",
      ])
  }

  @Test("An entity keeps its number if the store still has it under an old name")
  func numbers() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription("Car"), EntityDescription("LuxuryCar", parent: "Car", renamingIdentifier: "FastCar"),
        EntityDescription("Person"),
      ]))
    func row(_ number: Int, _ name: String) -> EntityNumbers.Row {
      .init(number: number, name: name, parent: 0, maximum: 1)
    }
    let renamed = EntityNumbers(
      model: model, rows: [row(4, "Car"), row(7, "FastCar"), row(9, "Person"), row(16_001, "CHANGE")])
    #expect(renamed.byIndex == [4, 7, 9])
    #expect(renamed.differences == [])
    #expect(renamed.entityIndex(ofNumber: 7) == 1 && renamed.entityIndex(ofNumber: 2) == nil)
    let unknown = EntityNumbers(model: model, rows: [row(1, "Car"), row(2, "QuickCar"), row(3, "Person")])
    #expect(unknown.byIndex == [1, 2, 3])
    #expect(unknown.differences.count == 1)
  }
}
