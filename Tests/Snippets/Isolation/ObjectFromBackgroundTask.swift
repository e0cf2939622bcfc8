import Persist

func first(_ container: PersistentContainer) async throws -> ManagedObject? {
  try await container.performBackgroundTask { context in  // expect-error: ManagedObject
    try context.fetch(FetchRequest("Item")).first
  }
}
