import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import ShopClasses
import Testing

@Suite("One store for classes with wrappers, generated classes and a model's file")
struct InteroperationTests {
  @Test("Each reads the objects saved by the others")
  func interoperation() throws {
    let file = try ModelRegistry(contentsOf: PackageFolder.url.appendingPathComponent("Models/Shop.xcdatamodeld"))
      .version(named: "Shop 3").model
    try withTemporaryStore { store in
      do {
        let context = try Self.context(store)
        let order = Order(context: context)
        order.number = 7
        order.buyer = Person("Ada", in: context)
        for name in ["Tea", "Milk"] {
          let item = Item(context: context)
          item.name = name
          let line = Line(context: context)
          line.item = item
          order.lines.append(line)
        }
        try context.save()
      }
      try #expect(GeneratedShop.orders(in: store, model: file) == ["7 Ada [\"Tea\", \"Milk\"]"])
      try GeneratedShop.add(to: store, model: file)
      let expected = ["107 Ada [\"Tea\", \"Milk\"]", "8 Grace [\"Honey\"]"]
      let context = try Self.context(store)
      let texts = try context.fetch(Order.all).map { order in
        "\(order.number) \(order.buyer?.name ?? "") \(order.lines.compactMap { $0.item?.name })"
      }
      #expect(texts.sorted() == expected)

      let coordinator = PersistentStoreCoordinator(model: file)
      try coordinator.addStore(at: store)
      let plain = ManagedObjectContext(coordinator)
      let numbers = try plain.fetch(FetchRequest<ManagedObject>("Order")).map { $0["number"] as? Int }
      #expect(Set(numbers) == [107, 8])
      withExtendedLifetime((context, plain)) {}
    }
  }

  private static func context(_ store: URL) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: try ShopModel.current())
    try coordinator.addStore(at: store)
    return ManagedObjectContext(coordinator)
  }
}
