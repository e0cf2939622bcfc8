/// Finds the stored values that the types of a model's classes can't read, before a migration to the model or without
/// one.
///
/// Only properties are examined whose types may refuse a value of their attribute: enumerations, composites, JSON
/// values, transformables and types with their own conversion. Each table that has such properties is read once, in
/// batches.
package final class UnreadableScan {
  /// The unreadable parts of one property of one row.
  package struct Finding {
    package let entity: String
    package let property: String
    package let row: Int64
    let parts: [UnreadablePart]

    /// The names that lead to each part from the object, and the reason why it can't be read.
    package var problems: [(keyPath: String, reason: String)] { parts.map { ($0.keyPath(property), $0.reason) } }
  }

  fileprivate struct Reader {
    let entity: String
    let property: String
    /// The slot of the old attribute.
    let slot: Int
    /// The replacement for a missing value; nil for none.
    let fill: StoredValue?
    /// The change of a composite attribute; nil if there is none.
    let move: CompositeMove?
    /// The conversion to another attribute type; nil if there is none.
    let conversion: AttributeValue?
    let declaration: any AttributeReading
  }

  private let model: ManagedObjectModel
  /// The readers of the rows of each old entity, in model order.
  private var readers: [[Reader]]

  /// - Parameters:
  ///   - old: The model of the rows.
  ///   - new: The model whose classes read them.
  ///   - correspondence: The sources of the new model's entities and properties.
  /// - Returns: Nil if the classes can read all values that their attributes can have.
  init?(from old: ManagedObjectModel, to new: ManagedObjectModel, by correspondence: ModelCorrespondence) {
    model = old
    readers = Array(repeating: [], count: old.entities.count)
    for (entity, type) in zip(new.entities, ManagedObjectClasses.classes(of: new, given: Dictionary())) {
      guard type != ManagedObject.self, !entity.isAbstract,
        let source = correspondence.entities[entity.name].flatMap({ old.entitiesByName[$0] })
      else { continue }
      readers[source.index] += ClassDeclaration(type).members.compactMap { member in
        Self.reader(member, of: entity, from: source, correspondence)
      }
    }
    if readers.allSatisfy(\.isEmpty) { return nil }
  }

  /// - Parameter model: The model of the rows, whose classes read them.
  /// - Returns: Nil if the classes can read all values that their attributes can have.
  package convenience init?(_ model: ManagedObjectModel) {
    self.init(from: model, to: model, by: ModelCorrespondence(storedAlike: model, as: model))
  }

  private static func reader(
    _ member: ClassDeclaration.Member, of entity: Entity, from source: Entity, _ correspondence: ModelCorrespondence
  ) -> Reader? {
    guard let property = entity.property(named: member.modelName), let attribute = property.attribute,
      !attribute.isTransient, let declaration = member.declaration as? any AttributeReading,
      declaration.problem(with: property) == nil, !declaration.readsEveryValue(of: attribute.type),
      let origin = correspondence.origin(of: property.name, in: entity.name),
      let former = origin.source.flatMap({ source.property(named: $0) }), let before = former.attribute,
      (before.type == .composite) == (attribute.type == .composite)
    else { return nil }
    let move = attribute.type == .composite ? CompositeMove(from: former, to: property) : nil
    return Reader(
      entity: entity.name, property: property.name, slot: former.slot, fill: origin.fill,
      move: move?.isIdentity == true ? nil : move,
      conversion: before.type == attribute.type || move != nil ? nil : AttributeValue(attribute),
      declaration: declaration)
  }

  /// Reads the rows.
  ///
  /// - Parameters:
  ///   - location: A store of the old model. It isn't changed.
  ///   - options: The options for opening the store.
  ///   - body: Called for each property of each row that has unreadable parts.
  /// - Complexity: Linear in the number of rows of the tables concerned.
  package func forEachFinding(
    in location: StoreLocation, options: StoreOptions, _ body: (Finding) throws -> Void
  ) throws {
    var options = options
    (options.isReadOnly, options.migrator, options.knownStore, options.backup) = (true, nil, nil, nil)
    (options.configuration, options.tracksHistory, options.historyKeeps) = (nil, false, nil)
    (options.readsFrom, options.enforcesValidation) = ([], false)
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.add(
      location.engine.openStore(at: location, model: model, options: options, allowsGaps: true))
    do {
      try forEachFinding(in: coordinator, body)
    } catch {
      try coordinator.remove(store)
      throw error
    }
    try coordinator.remove(store)
  }

  private func forEachFinding(in coordinator: PersistentStoreCoordinator, _ body: (Finding) throws -> Void) throws {
    // Registered classes may be those of the new model, which don't fit this one.
    let classes = Dictionary(uniqueKeysWithValues: model.entities.map { ($0.name, ManagedObject.self) })
    let context = ManagedObjectContext(coordinator, classes: classes)
    context.readsUnchangingStores = true
    for root in model.entities where root.superentity == nil {
      guard model.hierarchy(of: root).contains(where: { !readers[$0.index].isEmpty }) else { continue }
      try context.forEachBatch(of: FetchRequest<ManagedObject>(root.name)) { objects in
        for object in objects { try findings(in: object, body) }
        try context.throwDeferredError()
      }
    }
  }

  private func findings(in object: ManagedObject, _ body: (Finding) throws -> Void) throws {
    for reader in readers[object.entity.index] {
      let parts = reader.declaration.unreadableParts(of: reader.value(of: object))
      guard !parts.isEmpty else { continue }
      try body(Finding(entity: reader.entity, property: reader.property, row: object.key, parts: parts))
    }
  }

  /// Counts the rows with unreadable values, by property.
  func values(in location: StoreLocation, options: StoreOptions) throws -> [UnreadableValues] {
    var found: [String: UnreadableValues] = Dictionary()
    try forEachFinding(in: location, options: options) { finding in
      let key = "\(finding.entity).\(finding.property)"
      var values = found[key]
        ?? UnreadableValues(entity: finding.entity, property: finding.property, rows: 0, examples: [])
      values.rows += 1
      for problem in finding.problems.prefix(UnreadableValues.exampleLimit - values.examples.count) {
        values.examples.append(.init(row: finding.row, keyPath: problem.keyPath, reason: problem.reason))
      }
      found[key] = values
    }
    return found.sorted(on: \.key).map(\.value)
  }
}

extension UnreadableScan.Reader {
  /// The value that the property has after the migration; null for none.
  fileprivate func value(of object: ManagedObject) -> StoredValue {
    let value = object.unobservedValue(at: slot)
    if let move {
      return move.value(of: value, filling: fill) { AttributeValue($1.attribute).converted($0) ?? .null }
    }
    if value.isNull { return fill ?? .null }
    return conversion.map { $0.converted(value) ?? .null } ?? value
  }
}
