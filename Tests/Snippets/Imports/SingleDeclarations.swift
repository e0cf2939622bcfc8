import struct Persist.FetchRequest
import class Persist.ManagedObject
import class Persist.ManagedObjectContext
import class Persist.PersistentContainer
import enum Persist.StoredValue

func items(in context: ManagedObjectContext) throws -> [ManagedObject] { try context.fetch(FetchRequest("Item")) }

@MainActor
func context(of container: PersistentContainer) -> ManagedObjectContext { container.viewContext }

let missing = StoredValue.null
