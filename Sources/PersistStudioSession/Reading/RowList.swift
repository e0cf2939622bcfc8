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
    /// The mark of the store before the list was read.
    let mark: String
    /// The looks that have begun with the list, the latest first.
    var looks: [String]
  }

  /// The number of lists in memory: a few pages, each with a list and the one before it.
  private static let limit = 6
  private static let lookLimit = 20
  private let store: StudioStore
  private let entries = LockProtected<[Entry]>([])
  private let threads = DispatchQueue(label: "persist.studio.lists", attributes: .concurrent)

  init(_ store: StudioStore) { self.store = store }

  /// Returns the list of a request, which begins to be read if it is new or the store has changed.
  ///
  /// - Parameters:
  ///   - look: A text that identifies a look at the rows: all its windows come from one list, whatever happens to the
  ///     store while the user scrolls. Nil for a request without other windows.
  ///   - isFresh: Whether a new look needs a new list, even if no change of the store was found.
  func list(for request: FetchRequest<ManagedObject>, look: String?, isFresh: Bool) throws -> RowList {
    if let known = entries.withLock({ Self.take(request, look, from: &$0) }) { return known }
    let mark = try store.mark()
    return entries.withLock { entries in
      // Windows of a look are requested at once.
      if let known = Self.take(request, look, from: &entries) { return known }
      if !isFresh, !mark.isEmpty, let place = entries.firstIndex(where: { $0.request == request && $0.mark == mark }) {
        var known = entries.remove(at: place)
        if let look { known.looks = Array(([look] + known.looks).prefix(Self.lookLimit)) }
        entries.insert(known, at: 0)
        return known.list
      }
      // Nobody asks for these any more.
      entries.removeAll { $0.request == request && $0.looks.isEmpty }
      let list = RowList(request, of: store, on: threads)
      entries.insert(Entry(request: request, list: list, mark: mark, looks: look.map { [$0] } ?? []), at: 0)
      for old in entries.dropFirst(Self.limit) { old.list.cancel() }
      entries = Array(entries.prefix(Self.limit))
      return list
    }
  }

  /// Moves the list of a look to the front, if there is one.
  private static func take(
    _ request: FetchRequest<ManagedObject>, _ look: String?, from entries: inout [Entry]
  ) -> RowList? {
    guard let look,
      let place = entries.firstIndex(where: { $0.request == request && $0.looks.contains(look) })
    else { return nil }
    let known = entries.remove(at: place)
    entries.insert(known, at: 0)
    return known.list
  }

  func removeAll() {
    entries.withLock { entries in
      for entry in entries { entry.list.cancel() }
      entries = []
    }
  }
}
