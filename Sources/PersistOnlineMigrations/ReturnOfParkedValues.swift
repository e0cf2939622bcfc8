import Persist
import PersistPostgreSQL

/// The return of parked values to a model, beside another one whose programs go on.
struct ReturnOfParkedValues {
  /// The layout with the places of the values, and its model.
  let map: TableMap
  let version: ModelVersion
  /// The layout of the other model.
  let neighborMap: TableMap
  let neighbor: ModelVersion
  /// Whether programs with the other model never write a column, and no trigger computes it.
  let isOwnColumn: (_ table: String, _ column: String) -> Bool

  /// Prepares the return of values that may take long, and that nobody else writes: they are in the table of parked
  /// values afterward, and also remain parked until ``restore(_:)``.
  ///
  /// - Returns: The values that can be copied before that, in any order and any number of times.
  func prepare(_ parked: inout ParkedValues) throws -> [ReturningValues] {
    guard !parked.slots.isEmpty else { return [] }
    let (there, present) = try comparisons(of: parked)
    // The values parked last are newer, and remain.
    let found = parked.slots.reversed().compactMap { slot -> ReturningValues? in
      guard slot.kind == .attribute, mayReturn(slot, from: there, to: present),
        let (place, column) = place(ofAttribute: slot, there), isOwnColumn(map[place.entity].table, column.name)
      else { return nil }
      return ReturningValues(slot, to: place, column, in: map)
    }
    let numbers = Set(found.map(\.slot.number))
    try parked.collect { slot, _ in numbers.contains(slot.number) }
    return found
  }

  /// Restores what has a place.
  ///
  /// Values for which others stand in remain parked if these couldn't follow: programs with the other model then go on
  /// seeing the others. The tables of parked values and their triggers remain as they are, since changing these would
  /// exclude readers.
  func restore(_ parked: inout ParkedValues) throws {
    guard !parked.slots.isEmpty else { return }
    try parked.forgetReplaced(in: neighborMap, neighbor)
    let (there, present) = try comparisons(of: parked)
    let returning = Set(parked.slots.filter { mayReturn($0, from: there, to: present) }.map(\.number))
    try parked.collect { slot, _ in returning.contains(slot.number) }
    _ = try parked.restore(in: map, by: there, after: nil) { returning.contains($0.number) }
    try parked.connection.execute(.removeEmptyParkedSlots)
    try parked.connection.execute(.removeUnusedParkedStates)
  }

  private func comparisons(
    of parked: ParkedValues
  ) throws -> (there: ParkingComparisons, present: ParkingComparisons) {
    (
      try ParkingComparisons(parked.slots, with: version, registry: parked.registry, inspector: parked.connection),
      try ParkingComparisons(parked.slots, with: neighbor, registry: parked.registry, inspector: parked.connection)
    )
  }

  private func place(
    ofAttribute slot: ParkedSlot, _ there: ParkingComparisons
  ) -> (place: ParkingComparison.AttributePlace, column: TableMap.Column)? {
    guard let (comparison, entity) = there.subject(of: slot),
      let place = comparison.place(ofAttribute: slot.property, slot.path, in: entity),
      let column = map.column(ofAttribute: place.property, slot.path, in: place.entity)
    else { return nil }
    return (place, column)
  }

  /// Whether the values of a slot may return without being in the way of the other model.
  private func mayReturn(_ slot: ParkedSlot, from there: ParkingComparisons, to present: ParkingComparisons) -> Bool {
    guard there.isFit(slot), let (comparison, entity) = present.subject(of: slot),
      let (other, _) = there.subject(of: slot)
    else { return false }
    switch slot.kind {
    case .object: return comparison.entity(entity) == nil && !comparison.isCrossed(entity)
    case .attribute:
      // Programs with the other model don't see the object.
      guard comparison.entity(entity) != nil || comparison.isCrossed(entity) else { return true }
      guard ParkedValues.standIn(of: slot, in: entity, comparedBy: comparison, map: neighborMap) == nil else {
        return present.isFit(slot) && comparison.place(ofAttribute: slot.property, slot.path, in: entity) != nil
      }
      guard let (place, column) = place(ofAttribute: slot, there) else { return false }
      return isOwnColumn(map[place.entity].table, column.name)
    case .relationship:
      if comparison.place(ofRelationship: slot.property, of: entity) != nil { return true }
      guard ParkedValues.standInPairs(of: slot, in: entity, comparedBy: comparison, map: neighborMap).isEmpty,
        let place = other.place(ofRelationship: slot.property, of: entity),
        let property = place.entity.property(named: place.relationship.name),
        let pairs = map.pairs(of: property, in: place.entity)
      else { return false }
      return [pairs.owner, pairs.member].allSatisfy { isOwnColumn(pairs.table, $0) }
    }
  }
}
