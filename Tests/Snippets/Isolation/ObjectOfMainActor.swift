import Persist

@MainActor func archive(_ context: ManagedObjectContext) throws {
  guard let item = try context.fetch(FetchRequest("Item")).first else { return }
  Task.detached {  // expect-error: risks causing data races
    item["isArchived"] = true
  }
}
