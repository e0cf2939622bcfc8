import Persist

actor Shelf {
  private var items: [ManagedObject] = []
  func keep(_ item: ManagedObject) { items.append(item) }
}

func store(_ item: ManagedObject, on shelf: Shelf) async {
  await shelf.keep(item)  // expect-error: sending 'item' risks causing data races
}
