import Foundation
import Persist
import PersistMacrosless

/// A context over a store with a model of classes; the store is in memory unless a location is given.
func makeContext(_ classes: ManagedObject.Type..., at store: URL? = nil) throws -> ManagedObjectContext {
  let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(classes: classes))
  if let store {
    try coordinator.addStore(at: store, options: .automaticMigration)
  } else {
    try coordinator.addInMemoryStore()
  }
  return ManagedObjectContext(coordinator)
}
