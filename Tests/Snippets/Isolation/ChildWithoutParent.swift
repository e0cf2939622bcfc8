import Persist

func edit(_ coordinator: PersistentStoreCoordinator) throws {
  let parent = ManagedObjectContext(coordinator)
  let child = ManagedObjectContext(parent: parent)
  Task {  // expect-error: risks causing data races
    try child.save()
  }
  try parent.save()
}
