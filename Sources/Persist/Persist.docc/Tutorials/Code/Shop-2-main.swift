import Foundation
import Persist
import PersistMacrosless

let model = try ManagedObjectModel(Item.self, version: "1")
let coordinator = PersistentStoreCoordinator(model: model)

let url = URL(fileURLWithPath: "Shop.sqlite")
try coordinator.addStore(at: url, options: .automaticMigration)
