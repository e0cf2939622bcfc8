package import Persist

/// Parked values of an attribute that only the second model has, and their place.
package struct ReturningValues: Sendable {
  package let slot: ParkedSlot
  package let table: String
  package let column: TableMap.Column
  package let entityNumber: Int
  package let mark: MarkChange
  /// Whether missing values remain as they are.
  package let onlyPresent: Bool
  /// The values that objects without another one have; null isn't among them.
  package let defaults: [SQLValue]

  /// - Parameters:
  ///   - place: The place of the values.
  ///   - column: Its column.
  ///   - map: The layout with the column.
  package init(
    _ slot: ParkedSlot, to place: ParkingComparison.AttributePlace, _ column: TableMap.Column, in map: TableMap
  ) {
    self.slot = slot
    self.column = column
    table = map[place.entity].table
    entityNumber = map[place.entity].number
    mark = place.mark
    onlyPresent = !place.isExact
    defaults = [SQLValue(place.attribute.defaultValue, of: place.attribute)].compactMap { $0 }.filter { $0 != .null }
  }
}
