extension ManagedObjectContext {
  /// Creates a context over the coordinator's stores, including stores added later.
  ///
  /// - Parameters:
  ///   - coordinator: The coordinator of the stores.
  ///   - classes: Classes by entity name for this context, which take precedence over registered ones.
  public convenience init(_ coordinator: PersistentStoreCoordinator, classes: [String: ManagedObject.Type] = [:]) {
    let shared = classes.isEmpty ? coordinator.classes : nil
    let found = shared?.classes ?? ManagedObjectClasses.classes(of: coordinator.managedObjectModel, given: classes)
    self.init(coordinator, classes: found, from: shared, hooks: .standard)
  }
}

extension ManagedObjectContext.Hooks {
  fileprivate static let standard = Self(
    adoptNewerRow: { object, context in
      if context.isOutdated(object) { context.adoptNewerRows(of: [object]) }
    },
    fetch: { property, object in try object.fetchObjects(of: property) })
}
