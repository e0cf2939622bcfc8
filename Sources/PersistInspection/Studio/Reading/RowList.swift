import Dispatch
import Foundation
import Persist

/// The objects that a request finds, in its order: keys alone, which are read on a thread of their own.
final class RowList: Sendable {
  private let monitor = ReadMonitor()
  private let result = LockProtected<Result<RowKeys, any Error>?>(nil)
  private let isDone = DispatchGroup()

  init(_ request: FetchRequest<ManagedObject>, of store: StudioStore, on threads: DispatchQueue) {
    isDone.enter()
    threads.async { [self] in
      let found = Result { try store.context().fetchRowKeys(request, monitor: monitor) }
      result.withLock { $0 = found }
      isDone.leave()
    }
  }

  /// Returns the keys; nil if they aren't read within the time.
  ///
  /// - Parameter seconds: The time to wait; nil for any time.
  func keys(within seconds: Double?) throws -> RowKeys? {
    if let seconds {
      guard isDone.wait(timeout: .now() + seconds) == .success else { return nil }
    } else {
      isDone.wait()
    }
    return try result.withLock { try $0?.get() }
  }

  func cancel() { monitor.cancel() }
}

/// The lists of the requests that the pages show, so that scrolling reads only rows.
final class RowListCache: Sendable {
  private struct Entry {
    let request: FetchRequest<ManagedObject>
    let list: RowList
  }

  /// The number of lists in memory: a few pages, each with a list and the one before it.
  private static let limit = 6
  private let store: StudioStore
  private let entries = LockProtected<[Entry]>([])
  private let threads = DispatchQueue(label: "persist.studio.lists", attributes: .concurrent)

  init(_ store: StudioStore) { self.store = store }

  /// Returns the list of a request, which begins to be read if it is new.
  ///
  /// - Parameter isFresh: Whether to read it again, because the store has changed.
  func list(for request: FetchRequest<ManagedObject>, isFresh: Bool) -> RowList {
    entries.withLock { entries in
      if let place = entries.firstIndex(where: { $0.request == request }) {
        let known = entries.remove(at: place)
        if !isFresh {
          entries.insert(known, at: 0)
          return known.list
        }
      }
      let list = RowList(request, of: store, on: threads)
      entries.insert(Entry(request: request, list: list), at: 0)
      for old in entries.dropFirst(Self.limit) { old.list.cancel() }
      entries = Array(entries.prefix(Self.limit))
      return list
    }
  }

  func removeAll() {
    entries.withLock { entries in
      for entry in entries { entry.list.cancel() }
      entries = []
    }
  }
}
