/// The identifiers of a request's results in order, created on access: the list holds only keys.
struct ResultIdentifiers {
  /// The results in one store, or results without a row.
  private enum Part {
    case keys(RowKeys, StoreTables)
    case identifiers([ManagedObjectID])

    var count: Int {
      switch self {
      case .keys(let keys, _): keys.count
      case .identifiers(let ids): ids.count
      }
    }
  }

  private var parts: [(part: Part, start: Int)] = []
  /// The index of the first result within the parts.
  private var offset = 0
  private(set) var count = 0

  init() {}

  init(_ ids: [ManagedObjectID]) {
    append(ids)
  }

  mutating func append(_ keys: RowKeys, in tables: StoreTables) { append(.keys(keys, tables)) }

  mutating func append(_ ids: [ManagedObjectID]) { append(.identifiers(ids)) }

  private mutating func append(_ part: Part) {
    parts.append((part, count))
    count += part.count
  }

  /// Restricts the list to a limit, after an offset.
  mutating func cut(offset: Int, limit: Int?) {
    self.offset = min(offset, count)
    count = min(count - self.offset, limit ?? .max)
  }

  /// The identifier of the result at an index, from 0.
  subscript(index: Int) -> ManagedObjectID {
    precondition(index >= 0 && index < count, "Index \(index) is out of range: the request has \(count) results.")
    let place = index + offset
    let (part, start) = parts.last { $0.start <= place } ?? parts[0]
    switch part {
    case .identifiers(let ids): return ids[place - start]
    case .keys(let keys, let tables):
      let (key, entityIndex) = keys[place - start]
      return tables.objectID(of: tables.coordinator.layouts[entityIndex], key: key)
    }
  }

  subscript(range: Range<Int>) -> [ManagedObjectID] { range.map { self[$0] } }

  /// The identifiers of results without a row. Only a parent context's rows include some.
  func temporaryIDs(in context: ManagedObjectContext) -> [ManagedObjectID] {
    parts.flatMap { part -> [ManagedObjectID] in
      switch part.part {
      case .identifiers(let ids): return ids.filter(\.isTemporaryID)
      case .keys(let keys, let tables):
        guard context.parent != nil else { return [] }
        return (0..<keys.count).compactMap { place in
          let (key, entityIndex) = keys[place]
          return key < 0 ? tables.objectID(of: tables.coordinator.layouts[entityIndex], key: key) : nil
        }
      }
    }
  }
}

extension ManagedObjectContext {
  /// Returns the keys of a request's results, in order: a list that is Sendable and takes a few bytes for each result.
  ///
  /// The context must have one store and no unsaved changes.
  ///
  /// - Parameter monitor: Can cancel the fetch from any thread.
  package func fetchRowKeys(_ request: FetchRequest<ManagedObject>, monitor: ReadMonitor) throws -> RowKeys {
    readMonitor = monitor
    defer { readMonitor = nil }
    try prepareToFetch()
    return try FetchPass(request, in: self).identifiers().rowKeys(in: model)
  }
}

extension ResultIdentifiers {
  /// The keys of all results, which are rows of one store.
  fileprivate func rowKeys(in model: ManagedObjectModel) throws -> RowKeys {
    if parts.count == 1, case .keys(let keys, _) = parts[0].part, keys.count == count { return keys }
    var keys = RowKeys()
    for index in 0..<count {
      let id = self[index]
      guard let key = id.primaryKey else { continue }
      keys.append(key, entityIndex: UInt32(try model.entity(named: id.entityName).index))
    }
    return keys
  }
}

extension FetchPass {
  /// Returns the identifiers of the results as a compact list.
  func identifiers() throws -> ResultIdentifiers {
    context.readProbe.pause()
    defer { context.readProbe.resume() }
    guard areIdentifiersEnough else { return ResultIdentifiers(try objects().map(\.objectID)) }
    var results = ResultIdentifiers()
    for source in sources {
      guard let question = question(for: source, identifiersOnly: true) else { continue }
      let keys = try source.store.keys(question.query, monitor: context.readMonitor)
      let omitted = Set(overlaid.compactMap { context.rowKey(of: $0, in: source.tables) })
      let changed = changed(in: source).map { (key: $0.key, entityIndex: $0.layout.index) }
      results.append(keys.replacing(omitted, with: changed), in: source.tables)
    }
    results.append(unplaced.map(\.objectID))
    if !isWindowedByStore {
      results.cut(offset: request.fetchOffset, limit: request.fetchLimit > 0 ? request.fetchLimit : nil)
    }
    return results
  }
}
