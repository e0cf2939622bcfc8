/// A walk through the results of a request in groups: what to read next, and what the objects of a group are.
///
/// It reads nothing itself, so that a walk may wait for its rows or suspend until they are there. Without an order it
/// goes by key and needs nothing but a group; with one it needs the identifiers of all results.
struct FetchWalk {
  private enum Way {
    /// By key, from store to store: the next rows are those behind a key.
    case keys(source: Int, after: Int64)
    /// By the identifiers of all results, from a place on.
    case identifiers([ManagedObjectID], next: Int)
  }

  private let pass: FetchPass
  private let size: Int
  private var way: Way
  /// The identifiers of the group that is being read, where the walk goes by them.
  private var group: ArraySlice<ManagedObjectID> = []

  /// Whether a request's results can be walked through by key.
  static func isByKey(_ pass: FetchPass) -> Bool {
    let request = pass.request
    return pass.order.isEmpty && request.fetchLimit == 0 && request.fetchOffset == 0 && request.objectIDs == nil
  }

  /// - Parameter ids: the identifiers of all results; nil to go by key.
  init(_ pass: FetchPass, size: Int, ids: [ManagedObjectID]?) {
    self.pass = pass
    self.size = size
    way = ids.map { .identifiers($0, next: 0) } ?? .keys(source: 0, after: .min)
  }

  /// The next rows to read; nil at the end.
  mutating func question() -> FetchQuestion? {
    switch way {
    case .keys(var source, var after):
      while source < pass.sources.count {
        if var query = pass.query(for: pass.sources[source], keysOnly: keysOnly(source)) {
          (query.limit, query.afterKey) = (size, after)
          return FetchQuestion(tables: pass.sources[source].tables, query: query)
        }
        (source, after) = (source + 1, .min)
        way = .keys(source: source, after: after)
      }
      return nil
    case .identifiers(let ids, let next):
      guard next < ids.count else { return nil }
      // A group is of one store; unsaved objects go with any.
      let candidates = ids[next..<min(next.clampedSum(size), ids.count)]
      let identifier = candidates.first { !$0.isTemporaryID }?.storeIdentifier
      group = candidates.prefix { $0.isTemporaryID || $0.storeIdentifier == identifier }
      way = .identifiers(ids, next: group.endIndex)
      let source = pass.sources.first { $0.tables.identifier == identifier } ?? pass.sources.first
      return source.map { source in
        FetchQuestion(
          tables: source.tables, query: RowQuery(entity: pass.layout.entity, keys: group.compactMap(\.primaryKey)))
      }
    }
  }

  /// The objects of the rows that were read.
  mutating func objects(of batch: RowBatch, from question: FetchQuestion) throws -> [ManagedObject] {
    let objects: [ManagedObject]
    switch way {
    case .keys(let source, let after):
      let last = batch.last?.key ?? .max
      // A store that gave the same rows again would keep the walk going for ever.
      let isEnd = batch.count < size || last <= after
      way = isEnd ? .keys(source: source + 1, after: .min) : .keys(source: source, after: last)
      objects = try pass.matching(pass.make(batch, from: question.tables), pass.sources[source])
    case .identifiers:
      let context = pass.context
      let made = pass.make(batch, from: question.tables, withOverlaid: true)
      let found = Dictionary(made.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
      objects = group.compactMap { id in
        id.isTemporaryID ? context.registeredOrFault(id) : found[id]
      }.filter { $0.change != .deleted }
    }
    try pass.prefetch?.run(objects)
    return objects
  }

  /// Groups of results that no store has, which come last; none where the walk goes by identifiers.
  var unsaved: [[ManagedObject]] {
    guard case .keys = way else { return [] }
    return stride(from: 0, to: pass.added.count, by: size).map { start in
      Array(pass.added[start..<min(start.clampedSum(size), pass.added.count)])
    }
  }

  private func keysOnly(_ source: Int) -> Bool {
    !pass.request.includesPropertyValues && pass.sources[source].rest == nil
  }
}
