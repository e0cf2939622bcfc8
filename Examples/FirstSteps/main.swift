import Foundation
import Persist

let model = try ManagedObjectModel {                                   // or ModelRegistry(contentsOf: modelsFolder)
  EntityDescription("Item") {
    AttributeDescription("name", .string, default: "New Item")
    AttributeDescription("quantity", .int32, default: 1)
    RelationshipDescription("category", to: "Category", inverse: "items")
  }
  EntityDescription("Category") {
    AttributeDescription("name", .string)
    RelationshipDescription("items", toMany: "Item", deleteRule: .cascade)
  }
}
let coordinator = PersistentStoreCoordinator(model: model)
try coordinator.addStore(at: URL(fileURLWithPath: "Shop.sqlite"), options: .automaticMigration)

let context = ManagedObjectContext(coordinator)
let tea = ManagedObject(entity: "Item", context: context)
let drinks = ManagedObject(entity: "Category", context: context)
tea["name"] = "Tea"
tea["category"] = drinks                                               // and drinks["items"] has the tea
try context.save()

for item in try context.fetch(FetchRequest("Item", where: "quantity < %@", 5, sortedBy: [.init("name")])) {
  print(item["name"] ?? "nameless", item["quantity"] ?? 0)
}
