extension ManagedObjectContext {
  /// Releases the tables of removed stores that have other tables now, because they were added again.
  ///
  /// Objects refer to their tables without retaining them. Tables that have objects, or that results or a running
  /// fetch may create objects in, therefore remain until a later reset. So do the last tables of a store that wasn't
  /// added again: identifiers still resolve to them.
  func releaseReplacedTables() {
    lastPlace = nil
    let open = persistentStoreCoordinator.openStores
    for index in storeTables.indices.reversed() {
      let (store, identifier) = (ObjectIdentifier(storeTables[index].origin), storeTables[index].identifier)
      guard !open.contains(where: { ObjectIdentifier($0) == store }) else { continue }
      let isReplaced = storeTables[(index + 1)...].contains { $0.identifier == identifier }
      guard isReplaced, isKnownUniquelyReferenced(&storeTables[index]), storeTables[index].isUnused else { continue }
      storeTables.remove(at: index)
      // Prefetched rows name their tables, whose addresses are used again.
      graph.outdateRowsAhead()
    }
  }
}
