import Foundation
import Persist

func opened(_ modelsFolder: URL, _ url: URL) throws {
  // <block 0>
}

func planned(_ url: URL, _ registry: ModelRegistry) throws {
  // <block 1>
}

func mapped(
  _ coordinator: PersistentStoreCoordinator, _ url: URL, shop1: ManagedObjectModel, shop2: ManagedObjectModel
) throws {
  // <block 2>
}

func policies() {
  // <block 3>
  _ = migrator
}

func split(_ coordinator: PersistentStoreCoordinator, _ url: URL, v1: ModelVersion, v2: ModelVersion) throws {
  // <block 4>
}

func staged(
  _ coordinator: PersistentStoreCoordinator, _ url: URL, pets1: ModelVersion, pets2: ModelVersion,
  pets3: ModelVersion
) throws {
  // <block 5>
}

func managed(
  old: URL, new: URL, oldModel: ManagedObjectModel, newModel: ManagedObjectModel, mapping: MappingModel
) throws {
  // <block 6>
}
