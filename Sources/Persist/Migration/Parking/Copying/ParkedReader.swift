/// Reads what is parked in a store, in the form that files have.
package struct ParkedReader {
  package let slots: [ParkedSlot]
  package let comparisons: ParkingComparisons
  let schema: StoreSchema
  let source: any StoreInspector
  private let map: TableMap

  /// Returns nil if nothing is parked.
  ///
  /// - Parameters:
  ///   - source: A store with parked values.
  ///   - model: Its model.
  ///   - registry: The versions that are known.
  package init?(_ source: any StoreInspector, of model: ManagedObjectModel, registry: ModelRegistry?) throws {
    let catalog = try source.catalog()
    slots = try catalog.canHaveParkedValues ? source.parkedSlots() : []
    guard !slots.isEmpty else { return nil }
    comparisons = try ParkingComparisons(
      slots, with: Self.version(with: model, registry), registry: registry, inspector: source)
    map = catalog.tableMap(of: model)
    schema = catalog.schema
    self.source = source
  }

  static func version(with model: ManagedObjectModel, _ registry: ModelRegistry?) -> ModelVersion {
    registry?.versions.first { $0.model.fingerprints == model.fingerprints } ?? ModelVersion(name: "", model: model)
  }

  /// Calls a closure for each row of a slot; see ``ParkedSlot/Kind/rowColumns``.
  package func forEachRow(of slot: ParkedSlot, _ body: ([SQLValue]) throws -> Void) throws {
    try source.forEachParkedRow(of: slot, types(of: slot), body)
  }

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the type of the values isn't known any longer.
  package func types(of slot: ParkedSlot) throws -> ParkedTypes {
    guard slot.kind == .attribute else { return ParkedTypes(value: nil, standIn: nil) }
    guard let (comparison, entity) = comparisons.subject(of: slot) else {
      // Without a comparison of the models, no attribute is known to have replaced this one.
      return ParkedTypes(value: try formerAttribute(of: slot), standIn: nil)
    }
    let standIn = ParkedValues.standIn(of: slot, in: entity, comparedBy: comparison, map: map)
    return ParkedTypes(value: entity.attribute(of: slot), standIn: standIn?.attribute)
  }

  private func formerAttribute(of slot: ParkedSlot) throws -> AttributeDescription {
    let text = try source.parkedModel(slot.model)
    let description = try text.map { try ModelDescription(json: $0) }
    let model = try description.map { try ManagedObjectModel(ParsedModel($0)) }
    if let found = model?.entitiesByName[slot.entity]?.attribute(of: slot) { return found }
    throw PersistenceError(
      .invalidRequest, at: .property(slot.entity, slot.property),
      "The store contains parked values of \(ModelVersion.quoted(slot.version)) whose type is unknown, so they can't "
        + "be copied.",
      fix: "Purge them with `persist parked --purge`, or copy the store within its engine.")
  }
}

extension Entity {
  /// The attribute whose values a slot has, or the element of it.
  fileprivate func attribute(of slot: ParkedSlot) -> AttributeDescription? {
    guard !slot.path.isEmpty else { return attribute(named: slot.property) }
    return property(named: slot.property)?.elements.first { $0.path.dropFirst().elementsEqual(slot.path) }?.attribute
  }
}
