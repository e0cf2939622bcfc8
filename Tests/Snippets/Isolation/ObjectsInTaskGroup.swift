import Persist

func touch(_ items: [ManagedObject]) async {
  await withTaskGroup(of: Void.self) { group in
    for item in items {
      group.addTask {  // expect-error: risks causing data races
        item["isTouched"] = true
      }
    }
  }
}
