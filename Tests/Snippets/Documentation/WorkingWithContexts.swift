import Foundation
import Persist

@MainActor func imported(_ container: PersistentContainer) async throws {
  let importer = Importer(container)
  // <block 0>
  _ = tea
}

func saved(_ container: PersistentContainer, names: [String]) async throws {
  // <block 1>
}

@MainActor func waited(_ container: PersistentContainer) async throws {
  // <block 2>
}

func drafted(_ context: ManagedObjectContext, _ tea: ManagedObject) throws {
  // <block 3>
  // <block 6>
}

@MainActor func followed(_ background: ManagedObjectContext, _ context: ManagedObjectContext) async {
  // <block 4>
}

func pinned(_ context: ManagedObjectContext) throws {
  // <block 5>
}
