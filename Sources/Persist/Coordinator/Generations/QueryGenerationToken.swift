/// A state of the stores to which contexts can be pinned.
///
/// ```swift
/// try context.setQueryGeneration(from: .current)
/// let items = try context.fetch(FetchRequest("Item"))          // from here on, others' saves don't show
/// try other.setQueryGeneration(from: context.queryGenerationToken)
/// ```
///
/// The state stays readable while a context is pinned to it or the program has its token, but not longer than
/// ``StoreOptions/queryGenerationLifetime`` allows.
public struct QueryGenerationToken: Sendable, Hashable {
  /// The state at the time when the pinned context next reads.
  public static let current = QueryGenerationToken(generation: nil)

  /// Nil for ``current``.
  let generation: QueryGeneration?

  public static func == (left: QueryGenerationToken, right: QueryGenerationToken) -> Bool {
    left.generation === right.generation
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(generation.map(ObjectIdentifier.init)) }
}

/// One state of each of a coordinator's stores, acquired when one of them is first read.
final class QueryGeneration: ReadView {
  let coordinator: PersistentStoreCoordinator
  private struct HeldState {
    weak var store: (any PersistentStore)?
    let generation: any StoreGeneration
  }

  /// By store, not by identifier: the state of a store that was removed has ended, even if the store was added again.
  /// Nil until a store is read.
  private let states = LockProtected<[ObjectIdentifier: HeldState]?>(nil)

  init(of coordinator: PersistentStoreCoordinator) { self.coordinator = coordinator }

  /// Acquires the current state of every store that can hold one, unless that has already happened.
  func acquire() throws {
    try states.withLock { states in
      guard states == nil else { return }
      var acquired: [ObjectIdentifier: HeldState] = Dictionary()
      for store in coordinator.openStores {
        guard let generation = try store.generation() else { continue }
        acquired[ObjectIdentifier(store)] = HeldState(store: store, generation: generation)
      }
      states = acquired
    }
  }

  /// The source of a store's rows in this generation: the store itself if it can't hold a state, or was added later.
  func rows(of store: any PersistentStore) throws -> any SharedRowSource {
    try acquire()
    let rows = states.withLock { states -> (any SharedRowSource)? in
      guard let state = states?[ObjectIdentifier(store)], state.store === store else { return nil }
      return state.generation.rows
    }
    return rows ?? store
  }

  /// Nil if no store can hold a state.
  var token: QueryGenerationToken? {
    states.withLock { states in
      guard let states else { return .current }
      return states.isEmpty ? nil : QueryGenerationToken(generation: self)
    }
  }
}
