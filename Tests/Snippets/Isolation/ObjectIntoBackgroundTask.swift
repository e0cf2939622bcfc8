import Persist

func rename(_ item: ManagedObject, _ container: PersistentContainer) async throws {
  try await container.performBackgroundTask { context in
    item["name"] = "Tea"  // expect-error: capture of 'item' with non-Sendable type 'ManagedObject'
    try context.save()
  }
}
