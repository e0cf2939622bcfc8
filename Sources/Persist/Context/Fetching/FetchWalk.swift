/// A walk through the results of a request in groups: determines the next rows to read and the objects of a group.
///
/// It reads nothing itself, so that the caller can block or suspend while rows are read. Without an order it proceeds
/// by key and needs only one group in memory; with an order it needs the identifiers of all results.
struct FetchWalk {
  private enum Way {
    /// By key, from store to store: the next rows are those after a key.
    case keys(source: Int, after: Int64)
    /// By the identifiers of all results, starting at an index.
    case identifiers(ResultIdentifiers, next: Int)
  }

  private let pass: FetchPass
  private let size: Int
  private var way: Way
  /// The identifiers of the current group, if the walk proceeds by identifiers.
  private var group: [ManagedObjectID] = []
  /// The objects that the walk visits independently of rows, or visited before they had one. If the program saves them
  /// in the meantime, their rows are skipped.
  private var visited: Set<ManagedObject>
  /// For each source, the changed objects that belong between the rows that haven't been read.
  private var changed: [ArraySlice<ManagedObject>]
  /// The new and changed objects that follow all rows of the stores and haven't been visited.
  private var unplaced: ArraySlice<ManagedObject>

  /// Whether a request's results can be walked through by key.
  static func isByKey(_ pass: FetchPass) -> Bool {
    let request = pass.request
    return pass.order.isEmpty && request.fetchLimit == 0 && request.fetchOffset == 0 && request.objectIDs == nil
  }

  /// - Parameter ids: The identifiers of all results; nil to proceed by key.
  init(_ pass: FetchPass, size: Int, ids: ResultIdentifiers?) {
    self.pass = pass
    self.size = size
    visited = Set(pass.added)
    changed = pass.sources.map { pass.changed(in: $0)[...] }
    unplaced = pass.unplaced[...]
    way = ids.map { .identifiers($0, next: 0) } ?? .keys(source: 0, after: .min)
  }

  /// Returns the next rows to read, or nil at the end.
  mutating func question() -> StoreQuery? {
    switch way {
    case .keys(var source, var after):
      while source < pass.sources.count {
        if var query = pass.query(for: pass.sources[source], keysOnly: keysOnly(source)) {
          (query.limit, query.afterKey) = (size, after)
          return StoreQuery(tables: pass.sources[source].tables, query: query)
        }
        (source, after) = (source + 1, .min)
        way = .keys(source: source, after: after)
      }
      return nil
    case .identifiers(let ids, let next):
      guard next < ids.count else { return nil }
      // A group belongs to one store; unsaved objects can be in any group. Some may have been saved meanwhile.
      let candidates = ids[next..<min(next.clampedSum(size), ids.count)].map(\.current)
      let identifier = candidates.first { !$0.isTemporaryID }?.storeIdentifier
      group = Array(candidates.prefix { $0.isTemporaryID || $0.storeIdentifier == identifier })
      way = .identifiers(ids, next: next + group.count)
      let source = pass.sources.first { $0.tables.identifier == identifier } ?? pass.sources.first
      return source.map { source in
        StoreQuery(
          tables: source.tables, query: RowQuery(entity: pass.layout.entity, keys: group.compactMap(\.primaryKey)))
      }
    }
  }

  /// The next rows to read, if they are already known: those after a key.
  var nextQuestion: StoreQuery? {
    guard case .keys = way else { return nil }
    var walk = self
    return walk.question()
  }

  /// Returns the objects of the rows read, and those that the context has changed in their places.
  mutating func objects(of batch: RowBatch, from question: StoreQuery) throws -> [ManagedObject] {
    var objects: [ManagedObject]
    switch way {
    case .keys(let index, let after):
      let last = batch.greatestReadKey ?? .max
      // A store that returned the same rows again would make the walk endless.
      let isEnd = batch.readCount < size || last <= after
      way = isEnd ? .keys(source: index + 1, after: .min) : .keys(source: index, after: last)
      objects = try pass.matching(batch, pass.sources[index])
      if !visited.isEmpty { objects.removeAll(where: visited.contains) }
      for object in objects where object.key < 0 { visited.insert(object) }
      let due = changed[index].prefix { isEnd || $0.key <= last }
      changed[index].removeFirst(due.count)
      objects = pass.inserting(Array(due), into: objects, key: \.key)
    case .identifiers:
      let context = pass.context
      let made = pass.make(batch, from: question.tables, withOverlaid: true)
      let found = Dictionary(made.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
      objects = group.compactMap { $0.isTemporaryID ? context.registeredOrFault($0) : found[$0] }
    }
    objects = remaining(objects)
    try pass.prefetch?.run(objects)
    return objects
  }

  /// Returns the next group of results that come after all rows; nil at the end, and if the walk proceeds by
  /// identifiers.
  mutating func nextUnplaced() -> [ManagedObject]? {
    guard case .keys = way, !unplaced.isEmpty else { return nil }
    let group = unplaced.prefix(size)
    unplaced.removeFirst(group.count)
    return remaining(Array(group))
  }

  /// Returns the objects that the program has neither deleted nor discarded meanwhile.
  func remaining(_ objects: [ManagedObject]) -> [ManagedObject] {
    let includesDeleted = !pass.request.includesPendingChanges
    func remains(_ object: ManagedObject) -> Bool {
      object.tableReference != nil && (includesDeleted || object.change != .deleted)
    }
    // Nearly always all objects remain; then the array isn't copied.
    return objects.allSatisfyUnretained(remains) ? objects : objects.filter(remains)
  }

  private func keysOnly(_ source: Int) -> Bool {
    !pass.request.includesPropertyValues && pass.sources[source].rest == nil
  }
}

extension FetchPass {
  /// Passes the results to a closure in groups.
  func forEachBatch(size: Int, _ body: ([ManagedObject]) throws -> Void) throws {
    var walk = FetchWalk(self, size: size, ids: FetchWalk.isByKey(self) ? nil : try identifiers())
    var reader = GroupReader(context)
    while let question = walk.question() {
      let objects = try walk.objects(of: reader.rows(question), from: question)
      reader.readAhead(walk.nextQuestion)
      // A part can exceed the size if the context has changed objects whose places are between its rows.
      for start in stride(from: 0, to: objects.count, by: size) {
        let group = walk.remaining(Array(objects[start..<min(start.clampedSum(size), objects.count)]))
        if !group.isEmpty { try body(group) }
      }
    }
    while let objects = walk.nextUnplaced() { if !objects.isEmpty { try body(objects) } }
  }
}
