import Foundation

/// The threads on which one coordinator's stores are read and written for tasks that await the result.
package final class StoreThreads: Sendable {
  /// The number of a store's reading connections: more threads would only wait for one of them.
  package static let readingLanes = 8
  /// The number of threads that can work at the same time.
  static let processorCount = ProcessInfo.processInfo.activeProcessorCount

  /// For work that only reads.
  package let reading = ThreadPool(name: "Persist reading", maximum: readingLanes)
  /// For work that writes: one piece at a time, as a store processes it.
  package let writing = ThreadPool(name: "Persist writing", maximum: 1)
  /// For closures that may do anything, including waiting for each other.
  package let background = ThreadPool(name: "Persist background task", maximum: 64)

  package init() {}
}
