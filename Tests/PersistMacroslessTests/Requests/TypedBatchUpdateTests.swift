import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopClasses
import Testing

@Suite("Typed batch updates")
struct TypedBatchUpdateTests {
  private func context(_ store: URL) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
    try coordinator.addStore(at: store)
    return ManagedObjectContext(coordinator)
  }

  private struct Values {
    let quantity: Int
    let onSale: Bool
    let category: String?
  }

  /// The values of three items, by name, after a change in another context.
  private func items(after change: (ManagedObjectContext) throws -> Void) throws -> [Values] {
    try withTemporaryStore { store in
      do {
        let context = try context(store)
        let drinks = Category(context: context)
        drinks.name = "Drinks"
        for (name, quantity) in [("Bread", 4), ("Milk", 9), ("Tea", 2)] {
          let item = Item(context: context)
          (item.name, item.quantity, item.price) = (name, quantity, Decimal(quantity))
        }
        try context.save()
      }
      try change(try context(store))
      let context = try context(store)
      return try context.fetch(Item.sorted(by: \.name)).map {
        Values(quantity: $0.quantity, onSale: $0.onSale, category: $0.category?.name)
      }
    }
  }

  @Test("Properties are set in the rows that match a predicate")
  func values() throws {
    let items = try items { context in
      let update = Item.where(\.quantity < 5).setting(\.quantity, to: 7).setting(\.onSale, to: true)
      try #expect(context.execute(update).count == 2)
    }
    #expect(items.map(\.quantity) == [7, 9, 7])
    #expect(items.map(\.onSale) == [true, false, true])
  }

  @Test("Properties are computed from the old row")
  func expressions() throws {
    let items = try items { context in
      try context.execute(Item.all.setting(\.quantity) { $0.quantity * 2 + $0.name.length })
    }
    #expect(items.map(\.quantity) == [13, 22, 7])
  }

  @Test("A relationship is set to another object, and an optional property to nil")
  func relationships() throws {
    let items = try items { context in
      let drinks = try #require(try Category.fetch(in: context).first)
      let update = Item.where { $0.name.in(["Milk", "Tea"]) }.setting(\.category, to: drinks)
      try #expect(context.execute(update.setting(\.addedAt, to: nil)).count == 2)
    }
    #expect(items.map(\.category) == [nil, "Drinks", "Drinks"])
  }

  @Test("A limit, which would make the changed rows ambiguous, stops the program with a message")
  func limit() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = Item.all.limited(to: 3).setting(\.quantity, to: 1)
    }
    #expect(result?.says("select the rows with the predicate") == true)
  }
}
