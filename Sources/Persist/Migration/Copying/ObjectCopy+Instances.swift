/// The associations of source objects and destination objects.
extension ObjectCopy {
  func associate(_ source: ManagedObject, with destination: ManagedObject, for mapping: EntityMapping) throws {
    pairs.add(destination, from: source, step: try work(named: mapping.name).index)
  }

  func destinationInstances(
    forEntityMapping name: String, _ sources: [ManagedObject]
  ) throws -> [ManagedObject] {
    let work = try work(named: name)
    if sources.count == 1 { return try instances(of: work, for: sources[0]) }
    return try sources.flatMap { try instances(of: work, for: $0) }
  }

  func destinationInstances(for sources: [ManagedObject]) throws -> [ManagedObject] {
    try sources.flatMap { source in
      try works(from: source.entity).flatMap { try instances(of: $0, for: source) }
    }
  }

  /// The objects that a step created for a source object, beginning with the one that has its key.
  func instances(of work: StepWork, for source: ManagedObject) throws -> [ManagedObject] {
    let own = try ownInstance(of: work, for: source)
    guard let destinationTables, pairs.mayHave(step: work.index) else { return own.map { [$0] } ?? [] }
    let saved = try pairs.destinations(of: source.key, step: work.index).map { row in
      destinationContext.registeredOrFault(
        destinationContext.layouts[row.entity - 1], key: row.destination, in: destinationTables)
    }
    return (own.map { [$0] } ?? []) + saved + pairs.unsavedDestinations(of: source.key, step: work.index)
  }

  private func ownInstance(of work: StepWork, for source: ManagedObject) throws -> ManagedObject? {
    guard work.givesKeys, source.layout.entity === work.source, let place = work.place,
      let tables = place.table.siblings
    else { return nil }
    let key = source.key + work.offset
    if let new = newInstance(of: work, key: key) { return new }
    if work.isComplete || work.hasOwn(source.key) {
      return destinationContext.registeredOrFault(place.layout, key: key, in: tables)
    }
    guard work.isKeyed else { return nil }
    return try destinationContext.foundObject(
      with: ManagedObjectID(
        entityName: place.entityName, storeIdentifier: place.storeIdentifier, key: .permanent(key)))
  }

  /// The unsaved object with a key that a step created by default behavior.
  func newInstance(of work: StepWork, key: Int64) -> ManagedObject? {
    guard let object = work.place?.table.map[key], object.change == .inserted else { return nil }
    return object
  }

  func sourceInstances(forEntityMapping name: String, _ destinations: [ManagedObject]) throws -> [ManagedObject] {
    let work = try work(named: name)
    readSources()
    return try destinations.flatMap { try sources(of: $0, work) }
  }

  private func sources(of object: ManagedObject, _ work: StepWork) throws -> [ManagedObject] {
    let unsaved = pairs.unsavedSources(of: object, step: work.index)
    guard unsaved.isEmpty, let source = work.source, object.table?.isTemporary == false else { return unsaved }
    let own = object.key - work.offset
    let keys =
      if object.layout === work.place?.layout, work.givesKeys,
        work.isKeyed || object.change == .inserted || work.hasOwn(own)
      {
        [own]
      } else {
        try pairs.sources(of: object, step: work.index)
      }
    return try keys.compactMap { key in
      let id = ManagedObjectID(
        entityName: source.name,
        storeIdentifier: sourceContext.persistentStoreCoordinator.openStores.first?.identifier ?? "",
        key: .permanent(key))
      guard let found = try sourceContext.foundObject(with: id), found.entity === source else { return nil }
      return found
    }
  }
}

extension ManagedObjectContext {
  /// The object with an identifier; nil if it doesn't exist.
  ///
  /// - Throws: an error if that can't be determined.
  fileprivate func foundObject(with id: ManagedObjectID) throws -> ManagedObject? {
    do {
      return try existingObject(with: id)
    } catch let error as PersistenceError where error.code == .objectNotFound {
      return nil
    }
  }
}
