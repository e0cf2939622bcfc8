import Foundation
import Persist
import PersistMacrosless

let model = try ManagedObjectModel(Item.self, Category.self, version: "3")
let url = URL(fileURLWithPath: "Shop.sqlite")

let registry = ModelRegistry(versions: [ModelVersion(name: "3", model: model)])
print(try MigrationPlan(storeAt: url, registry: registry))
