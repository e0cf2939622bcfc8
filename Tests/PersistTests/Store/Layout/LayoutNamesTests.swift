import Foundation
import Testing

@testable import Persist
@testable import PersistModel

#if canImport(PersistPostgreSQL)
  @testable import PersistPostgreSQL
#endif

@Suite("Names in snake case")
struct LayoutNamesTests {
  @Test(
    "Names of entities and properties in snake case",
    arguments: [
      ("name", "name"), ("firstName", "first_name"), ("FirstName", "first_name"), ("first_name", "first_name"),
      ("First_Name", "first_name"), ("_count", "_count"), ("a", "a"), ("A", "a"), ("aB", "a_b"), ("", ""),
      ("URL", "url"), ("URLString", "url_string"), ("imageURL", "image_url"), ("imageURLs", "image_urls"),
      ("IDs", "ids"), ("URLsToLoad", "urls_to_load"), ("myURLSession", "my_url_session"), ("isASet", "is_a_set"),
      ("address2", "address2"), ("iso8601Date", "iso8601_date"), ("ISO8601Date", "iso8601_date"), ("v2URL", "v2_url"),
      ("is3D", "is3d"), ("model3DName", "model3d_name"), ("x1Y2", "x1y2"), ("MP3Player", "mp3_player"),
      ("größeÄndern", "größe_ändern"),
    ])
  func snakeCase(name: String, expected: String) {
    #expect(name.snakeCase == expected)
    #expect(name.snakeCase.snakeCase == expected, "The names of a name in snake case are its own")
  }

  private func map(_ entities: EntityDescription..., composites: [CompositeDescription] = []) throws -> TableMap {
    try .forNewStore(
      ManagedObjectModel(ModelDescription(entities: entities, composites: composites)), names: .snakeCase)
  }

  private func columns(_ map: TableMap, _ table: String) -> [String] { map.layout[table]?.map(\.name).sorted() ?? [] }

  @Test("Attributes, relationships of each kind, their positions and entity numbers")
  func relationships() throws {
    let map = try map(
      EntityDescription(
        "Order", attributes: [.init("placedOn", .date)],
        relationships: [
          .init("customer", to: "Customer", inverse: "orders"),
          .init("tags", toMany: "Tag", inverse: "orders", isOrdered: true),
        ]),
      EntityDescription("Party", isAbstract: true),
      EntityDescription(
        "Customer", parent: "Party",
        relationships: [.init("orders", toMany: "Order", inverse: "customer", isOrdered: true)]),
      EntityDescription("KeyCustomer", parent: "Customer"),
      EntityDescription("Tag", relationships: [.init("orders", toMany: "Order", inverse: "tags")]),
      EntityDescription("Team", relationships: [.init("members", toMany: "Person", inverse: nil, isOrdered: true)]),
      EntityDescription(
        "Person",
        relationships: [
          .init("friends", toMany: "Person", inverse: "friends"),
          .init("children", toMany: "Person", inverse: "parents"),
          .init("parents", toMany: "Person", inverse: "children"),
        ]))
    #expect(columns(map, "order") == ["customer_entity", "customer_id", "customer_place", "placed_on"])
    #expect(columns(map, "party") == [])
    #expect(columns(map, "person") == ["team_members_id", "team_members_place"])
    let joins = map.joinTables.sorted { $0.name < $1.name }
    #expect(joins.map(\.name) == ["order_tags", "person_friends", "person_parents"])
    #expect(joins.map(\.first.column) == ["order_id", "person_id", "children_id"])
    #expect(joins.map(\.second.column) == ["tag_id", "friends_id", "parents_id"])
    #expect(joins.map(\.first.orderColumn) == ["tag_place", nil, nil])
    #expect(
      map.indexDefinitions.map(\.name).sorted() == [
        "order_customer_id_index", "order_tags_tag_id_index", "party_entity_index", "person_friends_friends_id_index",
        "person_parents_parents_id_index", "person_team_members_id_index",
      ])
  }

  @Test("Names that are equal in snake case, or those of Persist's or the server's own columns, get a number")
  func collisions() throws {
    let map = try map(
      EntityDescription(
        "Item",
        attributes: [
          .init("id", .uuid), .init("version", .int64), .init("entity", .string), .init("firstName", .string),
          .init("first_name", .string), .init("shopID", .int64), .init("xmin", .double), .init("persistLeft", .string),
        ], relationships: [.init("shop", to: "Shop", inverse: nil)]),
      EntityDescription("Shop", relationships: [.init("tags", toMany: "Tag", inverse: "shops")]),
      EntityDescription("Tag", relationships: [.init("shops", toMany: "Shop", inverse: "tags")]),
      EntityDescription("ShopTags"), EntityDescription("PersistStore"), EntityDescription("Zmetadata"),
      EntityDescription("ItemIndex"), EntityDescription("New"), EntityDescription("r1"))
    #expect(
      columns(map, "item") == [
        "entity_2", "first_name", "first_name_2", "id_2", "model_persist_left", "shop_id", "shop_id_2", "version_2",
        "xmin_2",
      ])
    #expect(map.joinTables.map(\.name) == ["shop_tags_2"])
    #expect(
      map.tables.map(\.table).sorted() == [
        "item", "item_index_table", "model_persist_store", "new_table", "r1_table", "shop", "shop_tags", "tag",
        "zmetadata",
      ])
  }

  @Test("Indexes of different tables have different names")
  func indexes() throws {
    let map = try map(
      EntityDescription("Order", relationships: [.init("lineItem", to: "Item", inverse: nil)]),
      EntityDescription("OrderLine", relationships: [.init("item", to: "Item", inverse: nil)]),
      EntityDescription(
        "Item", attributes: [.init("code", .string, isIndexed: true)], uniquenessConstraints: [["code"]]))
    #expect(
      map.indexDefinitions.map(\.name) == [
        "order_line_item_id_index", "order_line_item_id_index_2", "item_code_index", "item_code_unique",
      ])
    #expect(map.declaredIndexDefinitions.map(\.name) == ["item_code_index"])
  }

  @Test("The columns of an existing store are found by the rules, with whatever number they have")
  func existingStore() throws {
    let new = try map(
      EntityDescription("A", attributes: [.init("text", .string)]),
      EntityDescription("B", parent: "A", attributes: [.init("textSize", .int64), .init("z12Note", .string)]),
      EntityDescription("C", parent: "A", attributes: [.init("textSize", .string)]))
    #expect(columns(new, "a") == ["text", "text_size", "text_size_2", "z12_note"])
    let keys = ["Z_PK", "Z_ENT", "Z_OPT"].map { StoreSchema.Column(name: $0, declaredType: "INTEGER") }
    func found(_ columns: [StoreSchema.Column]) -> [String] {
      let schema = StoreSchema(
        tables: [.init(name: "a", columns: keys + columns)], names: .snakeCase)
      return TableMap(model: new.model, numbers: new.numbers, schema: schema).differences
    }
    let columns: [StoreSchema.Column] = [
      .init(name: "text", declaredType: "VARCHAR"), .init(name: "text_size", declaredType: "VARCHAR"),
      .init(name: "text_size_2", declaredType: "INTEGER"), .init(name: "z12_note", declaredType: "VARCHAR"),
    ]
    #expect(found(columns) == [])
    #expect(found(columns.dropLast() + [.init(name: "z13_note", declaredType: "VARCHAR")]).count == 1)
  }

  #if canImport(PersistPostgreSQL)
    @Test("Names in SQL of every store are translated for a server, and back")
    func serverNames() {
      for (table, columns) in [
        "Z_PRIMARYKEY": ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"], "Z_METADATA": ["Z_VERSION", "Z_UUID", "Z_PLIST"],
        HistoryLayout.changeTable: ["Z_PK", "ZENTITY", "ZENTITYPK", "ZCOLUMNS", "ZTOMBSTONE3"],
        HistoryLayout.transactionTable: ["ZAUTHOR", "ZAUTHORTS", "ZTIMESTAMP"], HistoryLayout.textTable: ["ZNAME"],
        "PERSIST_METADATA": ["KEY"], "item": ["Z_PK", "name", "text", "kind"],
      ] {
        let name = ServerText.name(table)
        #expect(name == name.lowercased() && (table == "item" || name.hasPrefix("persist_")))
        #expect(ServerNames.table(name) == table)
        for column in columns where column != "KEY" {
          #expect(ServerNames.column(ServerText.name(column), of: table) == column, "\(table).\(column)")
        }
      }
      let sql: SharedSQL = """
        SELECT \(.key), \(name: "text") FROM \(name: "order") WHERE \(.entity) IN (\(numbers: [1, 2]))
        """
      #expect(SQLText(sql).text == #"SELECT Z_PK, "text" FROM "order" WHERE Z_ENT IN (1, 2)"#)
      #expect(ServerText(sql).shown == #"SELECT "id", "text" FROM "order" WHERE "entity" IN (1, 2)"#)
    }
  #endif
}
