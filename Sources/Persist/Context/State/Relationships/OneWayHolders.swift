/// Finds the changed objects that refer to others by relationships without an inverse.
///
/// Nothing leads from a destination to them, so that all changed objects are examined: for the first destination
/// themselves, and for all further ones in an index, which is built again after the program has related objects. None
/// is examined if no changed object is of an entity that refers to the destination's.
final class OneWayHolders {
  /// The context may own the instance.
  private unowned let context: ManagedObjectContext
  private var byDestination: [ManagedObjectID: [ManagedObject]] = Dictionary()
  /// The context's revision that the index reflects; nil before it is built.
  private var revision: Int?
  /// The number of times that all changed objects were examined.
  private(set) var scanCount = 0

  init(in context: ManagedObjectContext) { self.context = context }

  private var changed: [ManagedObject] { context.graph.insertedAndUpdated }

  /// Returns the new and changed objects that may refer to an object, including each that does.
  func holders(of object: ManagedObject) -> [ManagedObject] {
    guard mayHaveHolders(object) else { return [] }
    if scanCount == 0 {
      // An index for a single destination would cost more than it saves.
      scanCount = 1
      return changed
    }
    if revision != context.oneWay.revision { buildIndex() }
    let holders = byDestination[object.objectID.current] ?? []
    return holders.filter { $0.table != nil && ($0.change == .inserted || $0.change == .updated) }
  }

  /// Whether a changed object is of an entity that refers to the object's entity.
  ///
  /// - Complexity: O(1) for *n* changed objects.
  private func mayHaveHolders(_ object: ManagedObject) -> Bool {
    let referrers = object.layout.oneWayReferrers
    if referrers.isEmpty { return false }
    return [context.graph.inserted.oneWaySourceCounts, context.graph.updated.oneWaySourceCounts].contains { counts in
      counts.contains { index, count in
        count > 0 && referrers.contains { context.layouts[index].isKind(ofEntityAt: $0.entityIndex) }
      }
    }
  }

  /// Makes an object refer to another one, without building the index again unless the program's code, such as a fetch
  /// hook, relates others meanwhile.
  func relate(_ source: ManagedObject, to destination: ManagedObject, _ change: () -> Void) {
    guard let before = revision, before == context.oneWay.revision else { return change() }
    change()
    guard context.oneWay.revision == before &+ 1 else { return }
    byDestination[destination.objectID.current, default: []].append(source)
    revision = context.oneWay.revision
  }

  /// Adds a relationship that the program has just changed, unless others have changed since the index was built.
  func record(_ source: ManagedObject, relatedTo destination: ManagedObject) {
    guard let before = revision, context.oneWay.revision == before &+ 1 else { return }
    byDestination[destination.objectID.current, default: []].append(source)
    revision = context.oneWay.revision
  }

  private func buildIndex() {
    scanCount += 1
    byDestination = Dictionary()
    for source in changed {
      for relationship in source.layout.relationships where relationship.inverse == nil {
        for id in source.mentionedEnds(of: relationship) { byDestination[id.current, default: []].append(source) }
      }
    }
    revision = context.oneWay.revision
  }
}

extension ManagedObject {
  /// Returns the identifiers to which a relationship refers in memory; to-many ones include removed members.
  fileprivate final func mentionedEnds(of relationship: RelationshipLayout) -> [ManagedObjectID] {
    if relationship.isToMany { return toManys.isEmpty ? [] : toManys[relationship.slot]?.mentioned ?? [] }
    // Without the row, only unsaved values are known.
    if isWithoutRow, looseValues[relationship.slot] == nil { return [] }
    return if case .objectID(let id) = presentValue(at: relationship.slot) { [id] } else { [] }
  }
}
