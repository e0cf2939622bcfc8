import Persist

enum Current {
  static let item: ManagedObject? = nil  // expect-error: not concurrency-safe
}
