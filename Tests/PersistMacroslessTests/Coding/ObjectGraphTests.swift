import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopClasses
import Testing

private struct Extent: CompositeValue, Equatable {
  var width = 1
}

private final class Parcel: ManagedObject {
  @Attribute(type: .transformable) var content: Data?
  @Attribute var note: String? = "fragile"
  @Attribute var number: UUID? = UUID()
  @Composite var extent: Extent? = Extent()
}

@Suite("Coding object graphs")
struct ObjectGraphTests {
  private func context(_ store: URL? = nil) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
    if let store { try coordinator.addStore(at: store) } else { try coordinator.addInMemoryStore() }
    return ManagedObjectContext(coordinator)
  }

  private func order(in context: ManagedObjectContext) -> Order {
    let order = Order(context: context)
    order.number = 7
    order.placedAt = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
    order.buyer = Person("Ada", in: context)
    let tea = Item(context: context)
    tea.name = "Tea"
    tea.price = Decimal(string: "4.10") ?? 0
    tea.photo = Data([1, 2, 3])
    tea.barcode = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    for count in [2, 3] as [Int16] {
      let line = Line(context: context)
      line.count = count
      line.item = tea
      order.lines.append(line)
    }
    return order
  }

  @Test("A graph is decoded as new objects, each once, and present after reopening")
  func copy() throws {
    try withTemporaryStore { store in
      let source = try context()
      let data = try JSONEncoder().encode(ObjectGraph([order(in: source)], following: ["buyer", "lines.item"]))
      do {
        let target = try context(store)
        _ = try JSONDecoder().decode(ObjectGraph.self, from: data, configuration: target)
        try target.save()
      }
      let target = try context(store)
      let copy = try #require(try target.fetch(Order.self, FetchRequest("Order")).first)
      #expect(copy.number == 7)
      #expect(copy.placedAt == Date(timeIntervalSinceReferenceDate: 700_000_000.25))
      #expect(copy.buyer?.name == "Ada")
      #expect(copy.lines.map(\.count) == [2, 3])
      let item = try #require(copy.lines.first?.item)
      #expect(copy.lines.allSatisfy { $0.item === item })
      #expect((item.name, item.price, item.photo) == ("Tea", Decimal(string: "4.1"), Data([1, 2, 3])))
      #expect(item.barcode?.uuidString.hasPrefix("01020304") == true)
      #expect(try target.count(for: FetchRequest("Item")) == 1)
    }
  }

  @Test("Only selected relationships are encoded")
  func chosen() throws {
    let source = try context()
    let data = try JSONEncoder().encode(ObjectGraph([order(in: source)], following: ["buyer"]))
    let target = try context()
    let graph = try JSONDecoder().decode(ObjectGraph.self, from: data, configuration: target)
    #expect(graph.objects(of: Order.self).first?.lines.isEmpty == true)
    #expect(target.insertedObjects.count == 2)
  }

  @Test("A cycle is encoded with numbers in place of objects already encoded")
  func cycle() throws {
    let source = try context()
    let (outer, inner) = (Category(context: source), Category(context: source))
    (outer.name, inner.name) = ("outer", "inner")
    inner.parent = outer
    let data = try JSONEncoder().encode(ObjectGraph([outer], following: ["subcategories.parent"]))
    let target = try context()
    let copy = try JSONDecoder().decode(ObjectGraph.self, from: data, configuration: target).objects(of: Category.self)
    #expect(copy.map(\.name) == ["outer"])
    #expect(copy.first?.subcategories.map(\.name) == ["inner"])
    #expect(target.insertedObjects.count == 2)
  }

  @Test(
    "Undecodable data is an error and leaves no objects behind",
    arguments: [
      #"{"roots":[1],"objects":[{"number":1,"entity":"Nothing","attributes":{}}]}"#,
      #"{"roots":[1],"objects":[{"number":1,"entity":"Item","attributes":{"colour":"red"}}]}"#,
      #"{"roots":[1],"objects":[{"number":1,"entity":"Item","attributes":{"quantity":99999999999}}]}"#,
      #"{"roots":[1],"objects":[{"number":1,"entity":"Item","attributes":{"price":"much"}}]}"#,
      #"{"roots":[2],"objects":[{"number":1,"entity":"Item","attributes":{}}]}"#,
      #"{"roots":[1],"objects":[{"number":1,"entity":"Item","attributes":{},"relationships":{"category":1}}]}"#,
      #"{"roots":[1],"objects":[{"number":1,"entity":"Party","attributes":{}}]}"#,
      #"{"roots":[],"objects":[{"number":1,"entity":"Tag","attributes":{}},{"number":1,"entity":"Tag","attributes":{}}]}"#,
    ])
  func refused(_ text: String) throws {
    let target = try context()
    #expect(throws: (any Error).self) {
      try JSONDecoder().decode(ObjectGraph.self, from: Data(text.utf8), configuration: target)
    }
    #expect(!target.hasChanges)
  }

  private func decodedCopy(of parcel: Parcel, in target: ManagedObjectContext) throws -> Parcel {
    let data = try JSONEncoder().encode(ObjectGraph([parcel]))
    let graph = try JSONDecoder().decode(ObjectGraph.self, from: data, configuration: target)
    return try #require(graph.objects(of: Parcel.self).first)
  }

  @Test("A transformable attribute keeps its stored bytes, and so its value")
  func transformable() throws {
    let (source, target) = try (makeContext(Parcel.self), makeContext(Parcel.self))
    let parcel = Parcel(context: source)
    parcel["content"] = ["a", "b"]
    let copy = try decodedCopy(of: parcel, in: target)
    #expect(copy.content == parcel.content)
    #expect(copy["content"] as? [String] == ["a", "b"])
  }

  @Test("An attribute without a value is decoded without one, though new objects have one")
  func withoutValues() throws {
    let (source, target) = try (makeContext(Parcel.self), makeContext(Parcel.self))
    let parcel = Parcel(context: source)
    let full = try decodedCopy(of: parcel, in: target)
    #expect((full.note, full.number, full.extent) == ("fragile", parcel.number, Extent()))
    (parcel.note, parcel.number, parcel.extent) = (nil, nil, nil)
    let empty = try decodedCopy(of: parcel, in: target)
    #expect((empty.note, empty.number, empty.extent) == (nil, nil, nil))
  }

  @Test("A path that isn't all relationships is an error that names the existing ones")
  func wrongPath() throws {
    let source = try context()
    let error = #expect(throws: PersistenceError.self) {
      try JSONEncoder().encode(ObjectGraph([order(in: source)], following: ["lines.price"]))
    }
    #expect(error?.place.property == "price")
    #expect(error?.fix?.contains("item, order") == true)
  }
}
