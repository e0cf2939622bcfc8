import Persist

func rename(_ item: ManagedObject, _ container: PersistentContainer) async throws {
  let id = item.objectID
  let name = try await container.performBackgroundTask { context in
    let item = try context.existingObject(with: id)
    item["name"] = "Tea"
    try context.save()
    return item["name"] as? String
  }
  print(name ?? "")
}
