import Foundation

/// The comparisons of the models of slots with another model, and the slots that are restored in it.
package struct ParkingComparisons {
  private let slots: [ParkedSlot]
  private var byModel: [String: ParkingComparison] = Dictionary()
  /// The slots with values that the attribute's type in the other model can't represent, with their numbers.
  private var unfit: [Int: Int] = Dictionary()

  /// Models that can't be read or compared are omitted: their values remain parked.
  package init(
    _ slots: [ParkedSlot], with version: ModelVersion, registry: ModelRegistry?, inspector: any StoreInspector
  ) throws {
    self.slots = slots
    // Each part that a version lost has a slot, and all of them have one model.
    var models: Set<String> = Set()
    for slot in slots where models.insert(slot.model).inserted {
      guard let text = try inspector.parkedModel(slot.model), let description = try? ModelDescription(json: text),
        let model = try? ManagedObjectModel(ParsedModel(description))
      else { continue }
      let known = registry?.versions.first { $0.model.fingerprints == model.fingerprints }
      let own = known ?? ModelVersion(name: slot.version, model: model)
      guard let there = try? MigrationHop(from: own, to: version, registry: registry),
        let back = try? MigrationHop(from: version, to: own, registry: registry)
      else { continue }
      byModel[slot.model] = ParkingComparison(
        there: there.comparison, back: back.comparison,
        parkedEntities: Set(slots.filter { $0.model == slot.model && $0.kind == .object }.map(\.entity)))
    }
    for slot in slots where slot.kind == .attribute {
      guard let (comparison, entity) = subject(of: slot),
        let range = comparison.place(ofAttribute: slot.property, slot.path, in: entity)?.range
      else { continue }
      let count = try inspector.count(.parkedOutside(range, slot: slot))
      if count > 0 { unfit[slot.number] = count }
    }
  }

  /// The comparison for a slot, and its entity.
  @inline(never)
  package func subject(of slot: ParkedSlot) -> (ParkingComparison, Entity)? {
    guard let comparison = byModel[slot.model], let entity = comparison.model.entitiesByName[slot.entity] else {
      return nil
    }
    return (comparison, entity)
  }

  /// Whether the other model's type represents all values of a slot.
  package func isFit(_ slot: ParkedSlot) -> Bool { unfit[slot.number] == nil }

  /// Whether the values of a slot are restored in the other model.
  func hasPlace(_ slot: ParkedSlot) -> Bool {
    guard let (comparison, entity) = subject(of: slot), isFit(slot) else { return false }
    switch slot.kind {
    case .object: return comparison.entity(entity) != nil
    case .attribute: return comparison.place(ofAttribute: slot.property, slot.path, in: entity)?.isExact == true
    case .relationship: return comparison.place(ofRelationship: slot.property, of: entity)?.isExact == true
    }
  }

  /// The query for the number of values, objects or pairs of a slot that are restored; nil if it has no place.
  func restoredCount(_ slot: ParkedSlot) -> SharedSQL? {
    guard let (comparison, entity) = subject(of: slot), isFit(slot) else { return nil }
    switch slot.kind {
    case .object: return comparison.entity(entity) == nil ? nil : .countParked(slot)
    case .relationship: return hasPlace(slot) ? .countParked(slot) : nil
    case .attribute:
      guard let place = comparison.place(ofAttribute: slot.property, slot.path, in: entity) else { return nil }
      return .countRestored(slot, onlyPresent: !place.isExact)
    }
  }

  /// Whether values of a slot are restored, or others stand in for them.
  func mayReturn(_ slot: ParkedSlot) -> Bool {
    guard let (comparison, entity) = subject(of: slot) else { return false }
    return comparison.place(ofAttribute: slot.property, slot.path, in: entity) != nil
      || comparison.standIn(ofAttribute: slot.property, in: entity) != nil
  }

  /// Whether something is restored in a store that has the other model.
  func areRestored(in map: TableMap, _ inspector: any StoreInspector) throws -> Bool {
    let placed = slots.filter { hasPlace($0) }
    let withheld = try placed.filter { slot in
      guard slot.kind == .object, let (comparison, entity) = subject(of: slot), let found = comparison.entity(entity)
      else { return false }
      return try inspector.firstNumber(.countParkedKeys(slot, in: map[found].table)) > 0
    }
    return placed.contains { slot in
      !withheld.contains { $0.model == slot.model && ($0.entity == slot.entity || slot.kind == .relationship) }
    }
  }

  /// Sentences about values that remain parked although the other model has their properties or entities.
  var notes: [String] {
    slots.compactMap { slot in
      guard let (comparison, entity) = subject(of: slot) else { return nil }
      if let count = unfit[slot.number] {
        let place = comparison.place(ofAttribute: slot.property, slot.path, in: entity)
        let name = ([slot.entity, slot.property] + slot.path).joined(separator: ".")
        let type = place?.attribute.summary ?? "the new type"
        return "The values of \(name) remain parked, because \(type) can't represent \(count) of them."
      }
      guard slot.kind == .object, comparison.isWithheld(entity) else { return nil }
      return "The objects of \(slot.entity) remain parked, because other objects may have their keys in the table that "
        + "they would return to."
    }
  }

  /// The values that are restored and that checks of rows must take into account.
  ///
  /// - Parameter map: The layout that they are restored in.
  func restored(in map: TableMap) -> ParkedReturn {
    var result = ParkedReturn()
    for slot in slots {
      guard let (comparison, entity) = subject(of: slot) else { continue }
      switch slot.kind {
      case .attribute:
        guard slot.path.isEmpty, isFit(slot), let place = comparison.place(ofAttribute: slot.property, [], in: entity)
        else { continue }
        result.values[.init(entity: place.entity.name, name: place.property), default: []].append(slot)
      case .object:
        guard let found = comparison.entity(entity) else { continue }
        let own = slots.filter { $0.kind == .attribute && $0.model == slot.model && $0.entity == slot.entity }
        let columns = own.compactMap { own -> (String, Int)? in
          guard isFit(own), let place = comparison.place(ofAttribute: own.property, own.path, in: entity),
            let column = map.column(ofAttribute: place.property, own.path, in: place.entity)
          else { return nil }
          return (column.name, own.number)
        }
        result.objects.append(
          .init(
            slot: slot.number, entity: found.name,
            values: Dictionary(columns, uniquingKeysWith: { first, _ in first })))
      case .relationship:
        guard let place = comparison.place(ofRelationship: slot.property, of: entity), !place.relationship.isToMany,
          let declaring = place.entity.property(named: place.relationship.name)?.declaringEntity
        else { continue }
        result.pairs[.init(entity: declaring, name: place.relationship.name), default: []].append(slot.number)
      }
    }
    return result
  }
}
