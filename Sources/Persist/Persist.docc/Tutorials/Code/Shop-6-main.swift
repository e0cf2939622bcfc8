import Foundation
import Persist
import PersistMacrosless

let model = try ManagedObjectModel(Item.self, Category.self, version: "3")
let url = URL(fileURLWithPath: "Shop.sqlite")

let registry = ModelRegistry(versions: [ModelVersion(name: "3", model: model)])
print(try MigrationPlan(storeAt: url, registry: registry))

let coordinator = PersistentStoreCoordinator(model: model)
try coordinator.addStore(at: url, options: .automaticMigration)

let context = ManagedObjectContext(coordinator)
for item in try context.fetch(Item.sorted(by: \.name)) {
  print(item.name, item.stock, item.price)
}
