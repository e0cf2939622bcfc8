import Persist

func share(_ coordinator: PersistentStoreCoordinator) throws {
  let context = ManagedObjectContext(coordinator)
  Task {  // expect-error: risks causing data races
    try context.save()
  }
  try context.save()
}
