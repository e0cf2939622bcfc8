import Foundation
import Persist
import PersistMacrosless

let model = try ManagedObjectModel(Item.self, version: "1")
let coordinator = PersistentStoreCoordinator(model: model)

let url = URL(fileURLWithPath: "Shop.sqlite")
try coordinator.addStore(at: url, options: .automaticMigration)

let context = ManagedObjectContext(coordinator)
for (name, quantity) in [("Tea", 3), ("Coffee", 12), ("Bread", 1)] {
  let item = Item(context: context)
  item.name = name
  item.quantity = quantity
}
