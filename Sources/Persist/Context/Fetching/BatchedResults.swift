/// The results of a request, read during iteration: an array with only the keys in memory.
///
/// The set of results is fixed from the start; a batch of rows is read when one of its objects is accessed, and
/// released once two other batches have been read. The results don't change with the context: an object deleted later
/// remains among them and counts as deleted, and a new object that is discarded before it is saved remains without a
/// context.
///
/// ```swift
/// var request = FetchRequest("Item", sortedBy: "name")
/// request.fetchBatchSize = 50
/// let items = try context.fetchBatched(request)
/// print(items.count, items[1000]["name"] as? String ?? "")     // reads items 1000 to 1049
/// ```
public struct BatchedResults<Object: ManagedObject> {
  /// The present identifiers of all results.
  ///
  /// - Complexity: O(*n*) on each access: the results hold only keys, in four or eight bytes each.
  public var objectIDs: [ManagedObjectID] { identifiers[0..<identifiers.count].map(batches.presentID) }
  private let identifiers: ResultIdentifiers
  private let batches: Batches

  /// The most recently read batches. Iterating back and forth across the border of two batches reads neither again.
  private final class Batches {
    let context: ManagedObjectContext
    /// Results without a row: if they are discarded, the context no longer finds them by their identifiers.
    let unsaved: [ManagedObjectID: ManagedObject]
    let size: Int
    let prefetch: PrefetchPass?
    var recent: [(number: Int, objects: [Object])] = []

    init(_ context: ManagedObjectContext, unsaved ids: [ManagedObjectID], size: Int, prefetch: PrefetchPass?) {
      self.context = context
      let objects = ids.compactMap { id in context.registeredOrFault(id).map { (id, $0) } }
      unsaved = Dictionary(objects, uniquingKeysWith: { first, _ in first })
      self.size = size
      self.prefetch = prefetch
    }

    /// The identifier that an object has now, if it was saved since it was found.
    func presentID(_ id: ManagedObjectID) -> ManagedObjectID { unsaved[id]?.objectID ?? id }

    func objects(ofBatch number: Int, _ ids: ResultIdentifiers) -> [Object] {
      if let known = recent.first(where: { $0.number == number }) { return known.objects }
      let found = ids[number * size..<Swift.min((number + 1) * size, ids.count)].map { id in
        context.registeredOrFault(id) ?? unsaved[id] ?? context.object(with: id)
      }
      let present = found.filter { $0.table != nil }
      context.prefetchRows(of: present)
      do { try prefetch?.run(present) } catch { context.deferError(error) }
      let objects = found.map { object in
        guard let result = object as? Object else {
          preconditionFailure("\(object) is of class \(type(of: object)), not \(Object.self): register its class.")
        }
        return result
      }
      recent = Array(([(number, objects)] + recent).prefix(2))
      return objects
    }
  }

  init(_ identifiers: ResultIdentifiers, in context: ManagedObjectContext, size: Int, prefetch: PrefetchPass?) {
    self.identifiers = identifiers
    batches = Batches(context, unsaved: identifiers.temporaryIDs(in: context), size: size, prefetch: prefetch)
  }
}

extension BatchedResults: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { identifiers.count }

  /// The result at an index, from 0.
  ///
  /// Reads the batch that contains it if it isn't one of the two most recent ones. Traps if there is no such result, or
  /// if the object isn't an `Object`.
  public subscript(index: Int) -> Object {
    precondition(indices.contains(index), "Index \(index) is out of range: the request has \(count) results.")
    let (number, place) = index.quotientAndRemainder(dividingBy: batches.size)
    return batches.objects(ofBatch: number, identifiers)[place]
  }
}

extension ManagedObjectContext {
  /// Fetches the objects of a request, reading them in batches of ``FetchRequest/fetchBatchSize`` during iteration.
  ///
  /// - Throws: The errors of ``fetch(_:)``. Errors of reading a batch are thrown by the context's next call that can
  ///   throw.
  public func fetchBatched<Object: ManagedObject>(_ request: FetchRequest<Object>) throws -> BatchedResults<Object> {
    try prepareToFetch()
    let identifiers = try FetchPass(request, in: self).identifiers()
    let layout = layout(of: try entity(named: request.entityName))
    let paths = request.relationshipKeyPathsForPrefetching
    return BatchedResults(
      identifiers, in: self, size: request.fetchBatchSize > 0 ? request.fetchBatchSize : 100,
      prefetch: paths.isEmpty ? nil : try PrefetchPass(paths, of: layout, in: self))
  }
}
