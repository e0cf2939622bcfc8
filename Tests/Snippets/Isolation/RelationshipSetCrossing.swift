import Persist

func clear(_ items: RelationshipSet<ManagedObject>) {
  Task {  // expect-error: risks causing data races
    items.removeAll()
  }
}
