import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools
@testable import PersistCommand

@Suite("persist fetch, count, show and explain")
struct AskingTests {
  private final class Store {
    let path: String
    let bytes: Data

    init(in folder: URL) throws {
      let url = folder.appendingPathComponent("Shop.sqlite")
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Category", attributes: [.init("name", .string)],
            relationships: [.init("items", toMany: "Item", inverse: "category")]),
          EntityDescription(
            "Item",
            attributes: [
              .init("limit", .int64), .init("name", .string), .init("price", .decimal), .init("added", .date),
              .init("code", .binary),
            ],
            relationships: [.init("category", to: "Category", inverse: "items")]),
        ]))
      let coordinator = PersistentStoreCoordinator(model: model)
      let info = try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let drinks = try context.create("Category")
      drinks["name"] = "Drinks, \"hot\""
      for (number, name) in ["Tea", "Coffee", "Milk", "it's sort by limit 1"].enumerated() {
        let item = try context.create("Item")
        item["name"] = name
        item["limit"] = number
        item["price"] = Decimal(number) + Decimal(5) / 10
        item["added"] = Date(timeIntervalSinceReferenceDate: Double(number) + 0.25)
        item["code"] = Data([UInt8(number), 255])
        if number < 2 { item["category"] = drinks }
        try context.save()
      }
      try coordinator.remove(info)
      path = url.path
      bytes = try Data(contentsOf: url)
    }
  }

  private func names(_ outcome: Command.Outcome) throws -> [String] {
    try outcome.jsonLines().compactMap { ($0["attributes"] as? [String: Any])?["name"] as? String }
  }

  @Test("A request returns the objects in its order, in the format of dump, and changes no byte")
  func fetch() throws {
    try withTemporaryFolder { folder in
      let store = try Store(in: folder)
      let all = try Command.run("fetch", store.path, "Item", "--json")
      #expect(all.status == 0, "\(all.messages)")
      let dumped = try Command.run("dump", store.path, "--entity", "Item", "--json")
      #expect(all.output == dumped.output)
      for (request, expected) in [
        ("Item where price < 2 sort by name desc", ["Tea", "Coffee"]),
        ("Item where category.name BEGINSWITH 'Drinks' sort by name", ["Coffee", "Tea"]),
        ("Item sort by price desc limit 2", ["it's sort by limit 1", "Milk"]),
        ("Item sort by price LIMIT 1 OFFSET 1", ["Coffee"]),
        ("Item where limit > 2", ["it's sort by limit 1"]),
        ("Item where limit < 9 sort by limit, name limit 1", ["Tea"]),
        ("Item where name == \"it's sort by limit 1\"", ["it's sort by limit 1"]),
        ("Item where name == 'it\\'s sort by limit 1' limit 3", ["it's sort by limit 1"]),
        ("Item where FALSEPREDICATE", []),
      ] {
        let outcome = try Command.run("fetch", store.path, request, "--json")
        #expect(try names(outcome) == expected, "\(request): \(outcome.messages)")
      }
      try #expect(Data(contentsOf: URL(fileURLWithPath: store.path)) == store.bytes)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Shop.sqlite"])
    }
  }

  @Test("With columns, only values are written: as JSON, as CSV, and as a table")
  func columns() throws {
    try withTemporaryFolder { folder in
      let store = try Store(in: folder)
      let request = "Item where limit < 3 sort by limit"
      let rows = try Command.run("fetch", store.path, request, "--columns", "name, category.name,price", "--json")
      #expect(
        rows.output == """
          {"name": "Tea", "category.name": "Drinks, \\"hot\\"", "price": "0.5"}
          {"name": "Coffee", "category.name": "Drinks, \\"hot\\"", "price": "1.5"}
          {"name": "Milk", "category.name": null, "price": "2.5"}

          """, "\(rows.messages)")
      let csv = try Command.run(
        "fetch", store.path, request, "--columns", "name,category.name,added,code", "--csv")
      #expect(
        csv.output == #"""
          name,category.name,added,code
          Tea,"Drinks, ""hot""",2001-01-01T00:00:00.250000Z,AP8=
          Coffee,"Drinks, ""hot""",2001-01-01T00:00:01.250000Z,Af8=
          Milk,,2001-01-01T00:00:02.250000Z,Av8=

          """#, "\(csv.messages)")
      let table = try Command.run("fetch", store.path, request, "--columns", "name,limit")
      #expect(table.output == "name      limit\n'Tea'     0\n'Coffee'  1\n'Milk'    2\n")
    }
  }

  @Test(
    "A column whose file is missing has the file's name, as in dump", .aboutFilesOfLargeValues)
  func missingFile() throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Photos.sqlite")
      let photo = AttributeDescription("photo", .binary, allowsExternalStorage: true)
      let entity = EntityDescription("Item", attributes: [.init("name", .string), photo])
      let coordinator = PersistentStoreCoordinator(
        model: try ManagedObjectModel(ModelDescription(entities: [entity])))
      let info = try coordinator.addStore(at: store)
      let context = ManagedObjectContext(coordinator)
      for (name, count) in [("A", 3), ("B", 2_000_000), ("C", 0)] {
        let item = try context.create("Item")
        item["name"] = name
        item["photo"] = count == 0 ? nil : Data(repeating: 7, count: count)
      }
      try context.save()
      try coordinator.remove(info)
      let files = folder.appendingPathComponent(".Photos_SUPPORT/_EXTERNAL_DATA")
      let file = try #require(FileManager.default.contentsOfDirectory(atPath: files.path).first)
      try FileManager.default.removeItem(at: files.appendingPathComponent(file))
      let outcome = try Command.run(
        "fetch", store.path, "Item sort by name desc", "--columns", "name,photo", "--json")
      #expect(
        outcome.output == """
          {"name": "C", "photo": null}
          {"name": "B", "photo": {"missingFile": "\(file)"}}
          {"name": "A", "photo": "BwcH"}

          """, "\(outcome.messages)")
    }
  }

  @Test("As CSV without columns, the objects have the form of an export, in the order of the request")
  func table() throws {
    try withTemporaryFolder { folder in
      let store = try Store(in: folder)
      let outcome = try Command.run("fetch", store.path, "Item where limit < 3 sort by limit desc", "--csv")
      let lines = outcome.output.split(separator: "\n").map(String.init)
      #expect(outcome.status == 0 && lines.count == 4, "\(outcome.messages)")
      let file = folder.appendingPathComponent("Item.csv")
      #expect(try Command.run("export", store.path, file.path, "--entity", "Item", "--csv").status == 0)
      let exported = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
      #expect(lines.first == exported.first)
      #expect(Set(lines).isSubset(of: exported))
      #expect(lines.dropFirst().map { $0.contains("Milk") } == [true, false, false])
    }
  }

  @Test("Counts, single objects and explanations")
  func others() throws {
    try withTemporaryFolder { folder in
      let store = try Store(in: folder)
      #expect(try Command.run("count", store.path, "Item where price > 1").output == "3\n")
      try #expect(Command.run("count", store.path, "Item", "--json").json()["count"] as? Int == 4)
      let short = try Command.run("show", store.path, "Item/1", "--json")
      let inspected = try Command.run("inspect", store.path, "--json").json()
      let uuid = try #require((inspected["store"] as? [String: Any])?["uuid"] as? String)
      let long = try Command.run("show", store.path, "x-coredata://\(uuid)/Item/p1", "--json")
      #expect(short.output == long.output && short.status == 0, "\(short.messages)\(long.messages)")
      #expect(try names(short) == ["Tea"])
      let missing = try Command.run("show", store.path, "Item/77")
      #expect(missing.status == 1 && missing.messages.contains("no object Item/77"))
      let foreign = try Command.run("show", store.path, "x-coredata://OTHER/Item/p1")
      #expect(foreign.messages.contains("belongs to the store OTHER"))
      let explained = try Command.run("explain", store.path, "Item where name == 'Tea' sort by name", "--json").json()
      let statements = try #require(explained["statements"] as? [[String: Any]])
      #expect((statements.first?["sql"] as? String)?.contains("ZNAME") == true)
      #expect((explained["missingIndexes"] as? [[String: Any]])?.first?["attribute"] as? String == "name")
    }
  }

  @Test("Requests without quotation marks are explained", arguments: ["fetch", "count", "explain"])
  func unquoted(command: String) throws {
    let outcome = try Command.run(command, "Shop.sqlite", "Item", "limit", "2")
    #expect(outcome.status == 2 && outcome.messages.contains("quotation marks"), "\(outcome.messages)")
  }

  @Test(
    "A wrong request reports what is expected, and where",
    arguments: [
      ("", "isn't a valid request"), ("Item sort name", "isn't a valid request"),
      ("Item wher name == 'Tea'", "'wher' isn't expected after 'Item'"), ("Item where price <", "price <"),
      ("Nothing", "Nothing"), ("Item where colour == 1", "colour"), ("Item sort by name up", "isn't a valid sort key"),
      ("Item sort by colour", "colour"), ("Item limit 0", "returns no objects"),
      ("Item limit 1 limit 2", "is repeated or out of range"),
      ("Item limit 99999999999999999999", "is repeated or out of range"),
    ])
  func wrong(request: String, message: String) throws {
    try withTemporaryFolder { folder in
      let store = try Store(in: folder)
      let outcome = try Command.run("fetch", store.path, request)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains(message), "\(outcome.messages)")
      #expect(outcome.output.isEmpty)
    }
  }

  @Test("Mutually exclusive options are refused as a usage error")
  func usage() throws {
    #expect(try Command.run("fetch", "no.sqlite", "Item", "--csv", "--json", "--columns", "a").status == 2)
    #expect(try Command.run("fetch", "no.sqlite", "Item", "--columns", "a,").status == 2)
    #expect(try Command.run("fetch", "no.sqlite", "Item", "--columns", "a, b,a", "--json").status == 2)
    let unnamed = try Command.run("show", "no.sqlite", "Item")
    #expect(unnamed.status == 2 && unnamed.messages.contains("Usage: persist show"))
  }

  @Test("Every entity of every real store is counted as by inspect, subentities included", .needsSharedData)
  func realStores() throws {
    for store in ["posts/CoreDataMigration_Example_3.sqlite", "moody/Moody 3.moody"] {
      let url = try SharedData.url(store)
      let contents = try StoreContents(readingStoreAt: url, registry: nil)
      for entity in contents.model.entities {
        let expected = try contents.model.hierarchy(of: entity).reduce(0) { try $0 + contents.count(of: $1) }
        #expect(try Command.run("count", url.path, entity.name).output == "\(expected)\n", "\(store) \(entity.name)")
      }
    }
  }
}
