import Persist

func rename(_ item: ManagedObject) {
  Task {  // expect-error: risks causing data races
    item["name"] = "Tea"
  }
}
