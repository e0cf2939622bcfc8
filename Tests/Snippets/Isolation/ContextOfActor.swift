import Persist

actor Library {
  private let context: ManagedObjectContext
  private let draft: ManagedObjectContext

  init(_ coordinator: PersistentStoreCoordinator) {
    context = ManagedObjectContext(coordinator)
    draft = ManagedObjectContext(parent: context)
  }

  func add(_ title: String) throws -> ManagedObjectID {
    let book = try draft.create("Book")
    book["title"] = title
    try draft.save()
    try context.save()
    return book.objectID
  }
}

func fill(_ library: Library) async throws {
  async let emma = library.add("Emma")
  async let persuasion = library.add("Persuasion")
  _ = try await [emma, persuasion]
}
