import Foundation
import Persist

/// The results of requests with a batch size, whose rows are read a batch at a time when one of their objects is used.
///
/// Core Data's arrays read their objects so; an array of Swift's contains objects, which are faults without rows here.
final class FaultBatches {
  private struct Results {
    let ids: [ManagedObjectID]
    let size: Int
    /// The batches that weren't read yet.
    var places: [ManagedObjectID: Int]
  }

  // The most recent requests. Objects of older ones are read one by one.
  private static let limit = 8
  private var recent: [Results] = []

  /// Remembers the results of a request, in order.
  func add(_ ids: [ManagedObjectID], size: Int) {
    let places = Dictionary(ids.enumerated().map { ($1, $0 / size) }, uniquingKeysWith: { first, _ in first })
    recent = Array(([Results(ids: ids, size: size, places: places)] + recent).prefix(Self.limit))
  }

  /// The objects that are read together with another one.
  func batch(of object: ManagedObject) -> [ManagedObject] {
    guard let context = object.managedObjectContext else { return [] }
    for index in recent.indices {
      guard let number = recent[index].places[object.objectID] else { continue }
      let (ids, size) = (recent[index].ids, recent[index].size)
      let batch = ids[(number * size)..<min((number + 1) * size, ids.count)]
      for id in batch { recent[index].places[id] = nil }
      return batch.compactMap { context.registeredObject(for: $0) }
    }
    return []
  }

  func removeAll() { recent = [] }
}

extension NSManagedObjectContext {
  /// Returns the objects of a request with a batch size, as faults whose rows are read in batches.
  func faults(_ request: FetchRequest<ManagedObjectID>) throws -> [ManagedObject] {
    let ids = try base.fetchObjectIDs(request)
    let batches = faultBatches ?? FaultBatches()
    batches.add(ids, size: request.fetchBatchSize)
    if faultBatches == nil {
      faultBatches = batches
      base.faultBatch = { batches.batch(of: $0) }
    }
    return ids.map { base.object(with: $0) }
  }
}

extension NSFetchRequest {
  /// Whether the results are faults whose rows are read in batches.
  func readsInBatches(in context: NSManagedObjectContext) -> Bool {
    fetchBatchSize > 0 && returnsObjectsAsFaults && includesPropertyValues && !shouldRefreshRefetchedObjects
      && (relationshipKeyPathsForPrefetching ?? []).isEmpty && context.parent == nil
  }
}
