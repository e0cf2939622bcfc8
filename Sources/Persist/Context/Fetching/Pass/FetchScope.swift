/// The objects of a context that a request applies to, regardless of its predicate.
package struct FetchScope {
  private let context: ManagedObjectContext
  private let layout: EntityLayout
  private let includesSubentities: Bool
  private let stores: Set<String>?
  private let rows: Set<RowName>?

  /// The identity of a row for comparing a request's identifiers: a key identifies a row of a hierarchy, whichever of
  /// its entities an identifier names.
  private struct RowName: Hashable {
    let key: Int64
    /// Empty for an object without a permanent identifier.
    let store: String
  }

  package init<Result>(_ request: FetchRequest<Result>, of layout: EntityLayout, in context: ManagedObjectContext) {
    self.context = context
    self.layout = layout
    includesSubentities = request.includesSubentities
    stores = request.affectedStoreIdentifiers.map(Set.init)
    rows = request.objectIDs.map { ids in
      let ofHierarchy = ids.lazy.map(\.current).filter { id in
        context.layout(named: id.entityName)?.rootIndex == layout.rootIndex
      }
      return Set(ofHierarchy.map { RowName(key: $0.rowKey, store: $0.isTemporaryID ? "" : $0.storeIdentifier) })
    }
  }

  package func contains(_ object: ManagedObject) -> Bool {
    guard includesSubentities || object.layout === layout else { return false }
    guard object.layout.isKind(ofEntityAt: layout.index) else { return false }
    if let stores, !stores.contains(context.storeIdentifier(of: object)) { return false }
    guard let rows else { return true }
    let key = object.rowKey
    return rows.contains(RowName(key: key, store: key < 0 ? "" : object.table?.siblings?.identifier ?? ""))
  }
}
