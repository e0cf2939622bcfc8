import Persist

actor Library {
  private let context: ManagedObjectContext
  init(_ coordinator: PersistentStoreCoordinator) { context = ManagedObjectContext(coordinator) }
  func first() throws -> ManagedObject? { try context.fetch(FetchRequest("Book")).first }
}

func title(_ library: Library) async throws -> Any? {
  try await library.first()?["title"]  // expect-error: ManagedObject
}
