import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Layout of a new store")
struct TableMapTests {
  @Test("Attributes and to-one relationships are columns with uppercase names")
  func columns() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item",
            attributes: [
              AttributeDescription("name", .string), AttributeDescription("temp", .int16, isTransient: true),
            ],
            relationships: [RelationshipDescription("category", to: "Category", inverse: "items")]),
          EntityDescription(
            "Category",
            relationships: [RelationshipDescription("items", toMany: "Item", inverse: "category", isOrdered: true)]),
        ])))
    let item = try map[map.model.entity(named: "Item")]
    #expect(item.table == "ZITEM")
    #expect(item.number == 2)
    #expect(item.columns.map(\.name) == ["ZNAME", "ZCATEGORY"])
    let category = try map.model.entity(named: "Category")
    let slot = try #require(category.property(named: "items")?.slot)
    #expect(
      map[category].toMany[slot]
        == .foreignKey(.init(table: "ZITEM", column: "ZCATEGORY", entityColumn: nil, orderColumn: "Z_FOK_CATEGORY")))
    #expect(map.differences.isEmpty)
  }

  @Test("A hierarchy has one table, and equal names of siblings have digits in the order of entity numbers")
  func siblings() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Root", isAbstract: true, attributes: [AttributeDescription("id", .uuid)]),
          EntityDescription("B", parent: "Root", attributes: [AttributeDescription("text", .string)]),
          EntityDescription("A", parent: "Root", attributes: [AttributeDescription("text", .string)]),
          EntityDescription("C", parent: "A", attributes: [AttributeDescription("more", .int64)]),
          EntityDescription(
            "Owner", relationships: [RelationshipDescription("thing", to: "Root", inverse: nil)]),
        ])))
    func names(_ entity: String) throws -> [String] { try map[map.model.entity(named: entity)].columns.map(\.name) }
    #expect(try names("Root") == ["ZID"])
    #expect(try names("A") == ["ZID", "ZTEXT"])
    #expect(try names("C") == ["ZID", "ZTEXT", "ZMORE"])
    #expect(try names("B") == ["ZID", "ZTEXT1"])
    #expect(try map[map.model.entity(named: "C")].table == "ZROOT")
    // Owner is entity 1, Root 2.
    #expect(try names("Owner") == ["ZTHING", "Z2_THING"])
  }

  @Test("Names that differ only in case, and names made equal by digits, all have separate columns")
  func collisions() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Thing",
            attributes: ["title", "Title", "TITLE1"].map { AttributeDescription($0, .string) })
        ])))
    let thing = try map[map.model.entity(named: "Thing")]
    #expect(Dictionary(uniqueKeysWithValues: thing.columns.map { ($0.property, $0.name) })
      == ["TITLE1": "ZTITLE1", "Title": "ZTITLE", "title": "ZTITLE2"])
    #expect(Set(thing.columns.map(\.name)).count == 3)
  }

  @Test("A many-to-many relationship has a join table with a column for each side")
  func join() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Author", relationships: [
              RelationshipDescription("createdEntries", toMany: "Post", inverse: "authors", isOrdered: true)
            ]),
          EntityDescription(
            "Post", relationships: [
              RelationshipDescription("authors", toMany: "Author", inverse: "createdEntries", isOrdered: true)
            ]),
        ])))
    let table = try #require(map.joinTables.first)
    #expect(table.name == "Z_1CREATEDENTRIES")
    #expect(table.first.column == "Z_1AUTHORS" && table.second.column == "Z_2CREATEDENTRIES")
    #expect(table.first.orderColumn == "Z_FOK_2CREATEDENTRIES" && table.second.orderColumn == "Z_FOK_1AUTHORS")
    let post = try map.model.entity(named: "Post")
    let end = TableMap.JoinEnd(
      table: "Z_1CREATEDENTRIES", ownColumn: "Z_2CREATEDENTRIES", memberColumn: "Z_1AUTHORS",
      orderColumn: "Z_FOK_1AUTHORS", inverseOrderColumn: "Z_FOK_2CREATEDENTRIES", isReflexive: false)
    #expect(map[post].toMany[try #require(post.property(named: "authors")?.slot)] == .join(end))
    #expect(
      map.tableDefinitions.first { $0.name == table.name }?.columns.map(\.name)
        == ["Z_1AUTHORS", "Z_2CREATEDENTRIES", "Z_FOK_1AUTHORS", "Z_FOK_2CREATEDENTRIES"])
  }

  @Test("A relationship that is its own inverse joins a table's keys with each other")
  func reflexive() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Person", relationships: [
              RelationshipDescription("friends", toMany: "Person", inverse: "friends"),
              RelationshipDescription("likes", toMany: "Person", inverse: "likedBy"),
              RelationshipDescription("likedBy", toMany: "Person", inverse: "likes"),
            ])
        ])))
    #expect(map.joinTables.map(\.name) == ["Z_1FRIENDS", "Z_1LIKES"])
    #expect(map.joinTables[0].isReflexive && map.joinTables[0].second.column == "REFLEXIVE")
    #expect(map.joinTables[1].first.column == "Z_1LIKEDBY" && map.joinTables[1].second.column == "Z_1LIKES")
  }

  @Test("A to-many relationship without an inverse has a column in its destination's table")
  func oneWay() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Box", relationships: [RelationshipDescription("parts", toMany: "Part", inverse: nil)]),
          EntityDescription("Part", attributes: [AttributeDescription("name", .string)]),
        ])))
    let box = try map.model.entity(named: "Box")
    #expect(
      map[box].toMany[try #require(box.property(named: "parts")?.slot)]
        == .foreignKey(.init(table: "ZPART", column: "Z1PARTS", entityColumn: nil, orderColumn: nil)))
    #expect(map.tableDefinitions.last?.columns.map(\.name) == ["Z_PK", "Z_ENT", "Z_OPT", "Z1PARTS", "ZNAME"])
  }

  @Test("The elements of a composite attribute are columns")
  func composite() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(
          entities: [
            EntityDescription(
              "Place", attributes: [AttributeDescription("location", .composite, compositeName: "Location")])
          ],
          composites: [
            CompositeDescription(
              "Location",
              elements: [AttributeDescription("latitude", .double), AttributeDescription("longitude", .double)])
          ])))
    let place = try map.model.entity(named: "Place")
    #expect(map[place].columns.map(\.name) == ["ZLATITUDE", "ZLONGITUDE"])
    #expect(map[place].columns.map(\.slot) == [1, 2])
  }

  @Test("A uniqueness constraint has the columns of all its names, or no index")
  func uniqueness() throws {
    let map = try TableMap.forNewStore(
      ManagedObjectModel(
        ModelDescription(
          entities: [
            EntityDescription(
              "Item",
              attributes: [
                AttributeDescription("code", .string),
                AttributeDescription("address", .composite, compositeName: "Address"),
              ],
              relationships: [RelationshipDescription("owner", to: "Item", inverse: nil)],
              uniquenessConstraints: [
                ["code", "address.city"], ["address.point"], ["address"], ["code", "owner"],
              ])
          ],
          composites: [
            CompositeDescription(
              "Address",
              elements: [
                AttributeDescription("city", .string),
                AttributeDescription("point", .composite, compositeName: "Point"),
              ]),
            CompositeDescription(
              "Point", elements: [AttributeDescription("x", .double), AttributeDescription("y", .double)]),
          ])))
    let unique = map.indexDefinitions.filter(\.isUnique)
    #expect(unique.allSatisfy { $0.entityNumbers == nil })
    #expect(
      unique.map { $0.columns.map(\.name) } == [
        ["ZCODE", "ZCITY"], ["ZX", "ZY"], ["ZCITY", "ZX", "ZY"], ["ZCODE", "ZOWNER"],
      ])
    let item = try map[map.model.entity(named: "Item")]
    for name in ["gone", "address.gone", "code.city", "owner.code"] {
      #expect(item.columns(ofConstraint: ["code", name]) == nil)
    }
  }

  @Test("Indexes whose names would be equal get a number, whatever the order of their declaration")
  func equalIndexNames() throws {
    let attributes = ["a", "a_b", "b", "code", "Code"].map { AttributeDescription($0, .string) }
    let declared = [["a", "b"], ["a_b"], ["code"], ["Code"], ["b"]]
    for constraints in [declared, Array(declared.reversed())] {
      let map = try TableMap.forNewStore(
        ManagedObjectModel(
          ModelDescription(entities: [
            EntityDescription(
              "Item", attributes: attributes, uniquenessConstraints: constraints,
              indexes: [FetchIndexDescription("UNIQUE_b", on: "a")])
          ])))
      #expect(
        map.indexDefinitions.map { "\($0.name) for \($0.subject?.name ?? "")" }.sorted() == [
          "Z_Item_UNIQUE_Code for Code", "Z_Item_UNIQUE_a_b for a, b", "Z_Item_UNIQUE_a_b1 for a_b",
          "Z_Item_UNIQUE_b for UNIQUE_b", "Z_Item_UNIQUE_b1 for b", "Z_Item_UNIQUE_code1 for code",
        ])
      #expect(map.declaredIndexDefinitions.map(\.name) == ["Z_Item_UNIQUE_b"])
    }
  }
}
