/// The threads on which the stores of one coordinator are read and written for tasks that await it.
package final class StoreThreads: Sendable {
  /// As many as a store has connections that read: more would only wait for one of them.
  package static let readingLanes = 8

  /// For work that only reads.
  package let reading = ThreadPool(name: "Persist reading", maximum: readingLanes)
  /// For work that writes: one piece after the other, as a store takes it.
  package let writing = ThreadPool(name: "Persist writing", maximum: 1)
  /// For closures that do as they like, waiting for each other included.
  package let background = ThreadPool(name: "Persist background task", maximum: 64)

  package init() {}
}
