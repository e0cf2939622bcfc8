import Foundation
import Synchronization

/// The queue of a context: the main queue, or one of its own.
///
/// A private queue's block runs on the calling thread of `performAndWait`, and a nested call on the same thread runs at
/// once, even if other contexts' blocks are in between. A main queue's block always runs on the main thread.
final class ContextQueue: Sendable {
  private let isMain: Bool
  private let queue: DispatchQueue
  /// The thread that runs a block of a private queue; zero if none does.
  private let owner = Atomic<Int>(0)

  init(_ type: NSManagedObjectContextConcurrencyType) {
    isMain = type == .mainQueueConcurrencyType
    queue = isMain ? .main : DispatchQueue(label: "NSManagedObjectContext")
  }

  private static var thread: Int { ObjectIdentifier(Thread.current).hashValue | 1 }

  private var isCurrent: Bool {
    isMain ? Self.isOnMainQueue : owner.load(ordering: .acquiring) == Self.thread
  }

  // Once the main thread has called dispatchMain(), other threads run the main queue's blocks.
  private static let mainQueueKey = {
    let key = DispatchSpecificKey<Bool>()
    DispatchQueue.main.setSpecific(key: key, value: true)
    return key
  }()

  private static var isOnMainQueue: Bool {
    Thread.isMainThread || DispatchQueue.getSpecific(key: mainQueueKey) == true
  }

  func wait<Result>(_ body: () throws -> Result) rethrows -> Result {
    if isCurrent { return try body() }
    return try queue.sync { try own(body) }
  }

  func run(_ body: @escaping () -> Void) {
    let body = Transferred(body)
    queue.async { self.own(body.value) }
  }

  private func own<Result>(_ body: () throws -> Result) rethrows -> Result {
    let former = owner.exchange(Self.thread, ordering: .acquiringAndReleasing)
    defer { owner.store(former, ordering: .releasing) }
    return try body()
  }
}
