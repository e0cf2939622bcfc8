import Foundation
import Persist
import ShopGenerated

/// The sample model's generated classes in use, in a separate file, because those with wrappers have the same names.
enum GeneratedShop {
  /// Changes each stored order, and adds one.
  static func add(to store: URL, model: ManagedObjectModel) throws {
    let context = try context(store, model)
    for order in try context.fetch(Order.fetchRequest()) { order.number += 100 }
    let order = Order(context: context)
    order.number = 8
    let item = Item(context: context)
    item.name = "Honey"
    item.price = 4
    let line = Line(context: context)
    line.item = item
    line.count = 2
    order.addToLines(line)
    let person = Person(context: context)
    person.name = "Grace"
    order.buyer = person
    try context.save()
  }

  /// Each order's number, buyer and items.
  static func orders(in store: URL, model: ManagedObjectModel) throws -> [String] {
    let context = try context(store, model)
    return try withExtendedLifetime(context) {
      try context.fetch(Order.fetchRequest()).map { order in
        "\(order.number) \(order.buyer?.name ?? "") \(order.lines.compactMap { $0.item?.name })"
      }.sorted()
    }
  }

  private static func context(_ store: URL, _ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: store)
    return ManagedObjectContext(coordinator, classes: ShopEntityClasses.all.byEntity)
  }
}
