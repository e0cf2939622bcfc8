import Persist

func make(_ coordinator: PersistentStoreCoordinator) async throws {
  let context = ManagedObjectContext(coordinator)
  let item = try context.insertNewObject(forEntityName: "Item")
  item["name"] = "Tea"
  try await Task {
    item["name"] = "Green tea"
    try context.save()
  }.value
}
