/// Which of a context's objects a request is about, its predicate aside.
struct FetchScope {
  private let context: ManagedObjectContext
  private let layout: EntityLayout
  private let includesSubentities: Bool
  private let stores: Set<String>?
  private let ids: Set<ManagedObjectID>?

  init<Result>(_ request: FetchRequest<Result>, of layout: EntityLayout, in context: ManagedObjectContext) {
    self.context = context
    self.layout = layout
    includesSubentities = request.includesSubentities
    stores = request.affectedStoreIdentifiers.map(Set.init)
    ids = request.objectIDs.map(Set.init)
  }

  func contains(_ object: ManagedObject) -> Bool {
    guard includesSubentities || object.layout === layout else { return false }
    guard object.layout.isKind(ofEntityAt: layout.index) else { return false }
    if let stores, !stores.contains(context.storeIdentifier(of: object)) { return false }
    return ids?.contains(object.objectID) ?? true
  }
}
