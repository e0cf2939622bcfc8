import Persist
import PersistMacrosless

final class Item: ManagedObject {
  @Attribute var name = "New Item"
}

@MainActor func keep(_ item: Item) { item.name = "kept" }

func send(_ item: Item) async {
  await keep(item)  // expect-error: sending 'item' risks causing data races
}

func identifier(_ item: Item, _ context: ManagedObjectContext) -> ManagedObjectID { item.objectID }
