import Persist

func make(_ coordinator: PersistentStoreCoordinator) async throws {
  let context = ManagedObjectContext(coordinator)
  let item = try context.create("Item")
  item["name"] = "Tea"
  try await Task {
    item["name"] = "Green tea"
    try context.save()
  }.value
}
