/// What came from what.
extension ObjectCopy {
  func associate(_ source: ManagedObject, with destination: ManagedObject, for mapping: EntityMapping) throws {
    pairs.add(destination, from: source, step: try step(named: mapping.name).index)
  }

  func destinationInstances(
    forEntityMapping name: String, _ sources: [ManagedObject]
  ) throws -> [ManagedObject] {
    let work = work(try step(named: name))
    return try sources.flatMap { try instances(of: work, for: $0) }
  }

  func destinationInstances(for sources: [ManagedObject]) throws -> [ManagedObject] {
    try sources.flatMap { source in
      try plan.steps.filter { $0.source === source.entity }.flatMap { try instances(of: work($0), for: source) }
    }
  }

  /// The objects that a step made for a source object: the one with its key first.
  func instances(of work: StepWork, for source: ManagedObject) throws -> [ManagedObject] {
    guard let destinationTables else { return [] }
    var found = try ownInstance(of: work, for: source).map { [$0] } ?? []
    for row in try pairs.destinations(of: source.key, step: work.step.index) {
      found.append(
        destinationContext.registeredOrFault(
          destinationContext.layouts[row.entity - 1], key: row.destination, in: destinationTables))
    }
    return found + pairs.unsavedDestinations(of: source.key, step: work.step.index)
  }

  private func ownInstance(of work: StepWork, for source: ManagedObject) throws -> ManagedObject? {
    guard work.givesKeys, source.entity === work.step.source, let place = work.place, let tables = place.table.siblings
    else { return nil }
    let key = source.key + work.step.offset
    if let new = newInstance(of: work, key: key) { return new }
    if work.step.isComplete || work.hasOwn(source.key) {
      return destinationContext.registeredOrFault(place.layout, key: key, in: tables)
    }
    guard work.step.isKeyed else { return nil }
    return try? destinationContext.existingObject(
      with: ManagedObjectID(
        entityName: place.entityName, storeIdentifier: place.storeIdentifier, key: .permanent(key)))
  }

  /// The unsaved object that a step made the plain way for the source with this key.
  func newInstance(of work: StepWork, key: Int64) -> ManagedObject? {
    guard let object = work.place?.table.map[key], object.change == .inserted else { return nil }
    return object
  }

  func sourceInstances(forEntityMapping name: String, _ destinations: [ManagedObject]) throws -> [ManagedObject] {
    let work = work(try step(named: name))
    return try destinations.flatMap { try sources(of: $0, work) }
  }

  private func sources(of object: ManagedObject, _ work: StepWork) throws -> [ManagedObject] {
    let unsaved = pairs.unsavedSources(of: object, step: work.step.index)
    guard unsaved.isEmpty, let source = work.step.source, object.table?.isTemporary == false else { return unsaved }
    let own = object.key - work.step.offset
    let keys =
      if object.layout === work.place?.layout, work.givesKeys,
        work.step.isKeyed || object.change == .inserted || work.hasOwn(own)
      {
        [own]
      } else {
        try pairs.sources(of: object, step: work.step.index)
      }
    return keys.compactMap { key in
      let id = ManagedObjectID(
        entityName: source.name, storeIdentifier: sourceContext.coordinator.openStores.first?.identifier ?? "",
        key: .permanent(key))
      guard let found = try? sourceContext.existingObject(with: id), found.entity === source else { return nil }
      return found
    }
  }
}
