import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private final class Item: ManagedObject {
  @Attribute("name") var name: String
  @Attribute("quantity") var quantity: Int
  @Attribute("price") var price: Decimal?
  @Attribute("weight") var weight: Double?
  @Attribute("isOnSale") var isOnSale: Bool
  @Attribute("addedAt") var addedAt: Date?
  @Attribute("photo") var photo: Data?
  @Attribute("barcode") var barcode: UUID?
  @Attribute("page") var page: URL?
  @Relationship("category") var category: Category?
}

private final class Category: ManagedObject {
  @Attribute("name") var name: String?
  @Relationship("items") var items: RelationshipSet<Item>
}

@Suite("Typed properties")
struct TypedPropertyTests {
  private func context(_ store: URL) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      EntityDescription("Item", className: "Item") {
        AttributeDescription("name", .string, default: "New Item")
        AttributeDescription("quantity", .int32, default: 1)
        AttributeDescription("price", .decimal)
        AttributeDescription("weight", .double)
        AttributeDescription("isOnSale", .boolean)
        AttributeDescription("addedAt", .date)
        AttributeDescription("photo", .binary)
        AttributeDescription("barcode", .uuid)
        AttributeDescription("page", .uri)
        RelationshipDescription("category", to: "Category", inverse: "items")
      }
      EntityDescription("Category", className: "Category") {
        AttributeDescription("name", .string)
        RelationshipDescription("items", toMany: "Item")
      }
    }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: store)
    return ManagedObjectContext(coordinator, classes: ["Item": Item.self, "Category": Category.self])
  }

  @Test("Values of every type are read back after reopening")
  func values() throws {
    try withTemporaryStore { store in
      let barcode = UUID()
      do {
        let context = try context(store)
        let item = Item(context: context)
        item.name = "Tea"
        item.quantity = 12
        item.price = Decimal(string: "4.50")
        item.weight = 0.25
        item.isOnSale = true
        item.addedAt = Date(timeIntervalSinceReferenceDate: 600_000_000.5)
        item.photo = Data([1, 2, 3])
        item.barcode = barcode
        item.page = URL(string: "https://example.org/tea")
        try context.save()
      }
      let context = try context(store)
      let item = try #require(try context.fetch(Item.self, FetchRequest("Item")).first)
      #expect(item.name == "Tea")
      #expect(item.quantity == 12)
      #expect(item.price == Decimal(string: "4.5"))
      #expect(item.weight == 0.25)
      #expect(item.isOnSale)
      #expect(item.addedAt == Date(timeIntervalSinceReferenceDate: 600_000_000.5))
      #expect(item.photo == Data([1, 2, 3]))
      #expect(item.barcode == barcode)
      #expect(item.page == URL(string: "https://example.org/tea"))
    }
  }

  @Test("A new object has the model's defaults; without a value, a property is nil, or its type's zero")
  func defaults() throws {
    try withTemporaryStore { store in
      let context = try context(store)
      let item = Item(context: context)
      #expect(item.name == "New Item")
      #expect(item.quantity == 1)
      #expect(item.price == nil)
      #expect(item.isOnSale == false)
      item.price = 3
      item.price = nil
      #expect(item.price == nil)
    }
  }

  @Test("Both sides of a relationship are kept consistent, and are present after reopening")
  func relationships() throws {
    try withTemporaryStore { store in
      do {
        let context = try context(store)
        let drinks = Category(context: context)
        drinks.name = "Drinks"
        for name in ["Tea", "Coffee"] {
          let item = Item(context: context)
          item.name = name
          item.category = drinks
        }
        #expect(drinks.items.count == 2)
        try context.save()
      }
      let context = try context(store)
      let drinks = try #require(try context.fetch(Category.self, FetchRequest("Category")).first)
      #expect(drinks.items.map(\.name).sorted() == ["Coffee", "Tea"])
      let tea = try #require(drinks.items.first { $0.name == "Tea" })
      #expect(tea.category === drinks)
      tea.category = nil
      #expect(drinks.items.count == 1)
    }
  }
}
