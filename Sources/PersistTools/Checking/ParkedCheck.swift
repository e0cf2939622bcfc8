import Persist

/// The check of what migrations parked in a store.
enum ParkedCheck {
  /// The parked values, objects and pairs that can't come back.
  static func problems(_ inspector: any StoreInspector) throws -> [StoreProblem] {
    let catalog = try inspector.catalog()
    guard catalog.canHaveParkedValues else { return [] }
    var problems: [StoreProblem] = []
    // Each removed attribute of a version has a slot, and all of them have one model.
    var models: [String: ManagedObjectModel?] = Dictionary()
    for slot in try inspector.parkedSlots() {
      let detail: String
      if models[slot.model] == nil { models[slot.model] = .some(try model(of: slot, inspector)) }
      if !isDescribed(slot, by: models[slot.model] ?? nil) {
        detail = "The store lacks the model of \(ModelVersion.quoted(slot.version)) that the parked "
          + "\(slot.kind.contents) belong to, so they can't come back."
      } else if let column = slot.column, catalog.schema.table(named: column.table)?.column(named: column.name) == nil {
        detail = "The parked values of \(ModelVersion.quoted(slot.version)) were in the column '\(column.name)' of "
          + "'\(column.table)', which doesn't exist."
      } else {
        continue
      }
      problems.append(
        StoreProblem(kind: .parkedValues, entity: slot.entity, property: slot.keyPath, detail: detail))
    }
    let stray = try SharedSQL.strayParkedRows.reduce(0) { try $0 + inspector.firstNumber($1) }
    if stray > 0 {
      problems.append(
        StoreProblem(
          kind: .parkedValues,
          detail: "Nothing says what \(Measure.count(stray, "parked row")) belong to, so they can't come back."))
    }
    return problems
  }

  /// The model of a slot; nil if the store doesn't have it.
  private static func model(of slot: ParkedSlot, _ inspector: any StoreInspector) throws -> ManagedObjectModel? {
    guard let text = try inspector.parkedModel(slot.model), let description = try? ModelDescription(json: text)
    else { return nil }
    return try? ManagedObjectModel(ParsedModel(description))
  }

  /// Whether a model has a slot's entity and property.
  private static func isDescribed(_ slot: ParkedSlot, by model: ManagedObjectModel?) -> Bool {
    guard let entity = model?.entitiesByName[slot.entity] else { return false }
    return slot.property.isEmpty || entity.property(named: slot.property) != nil
  }
}
