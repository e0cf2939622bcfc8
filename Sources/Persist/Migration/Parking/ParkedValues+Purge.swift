import Foundation

extension ParkedValues {
  /// Deletes what has been parked for too long.
  ///
  /// - Parameter isMigrating: Whether another migration is counted.
  /// - Returns: The number of deleted slots.
  @discardableResult
  mutating func removeExpired(_ lifetime: ParkedLifetime, countingMigration isMigrating: Bool = false) throws -> Int {
    guard isUsed, !slots.isEmpty else { return 0 }
    try connection.execute(.createParkedStates)
    for slot in slots { try connection.execute(.addParkedState(slot, at: Date().timeIntervalSinceReferenceDate)) }
    if isMigrating { try connection.execute(.raiseParkedAges) }
    guard let condition = lifetime.condition(now: Date()) else { return 0 }
    let expired = try slots.filter { try connection.firstNumber(.countExpired($0, condition)) > 0 }
    try remove(expired)
    return expired.count
  }

  /// Disregards what was parked after a slot.
  mutating func restrict(toSlotsUpTo last: ParkedSlot?) {
    slots.removeAll { $0.number > last?.number ?? 0 }
    columns.removeAll { $0.number > last?.number ?? 0 }
  }

  /// Deletes some of the slots.
  ///
  /// - Parameter schema: The schema of the store.
  /// - Returns: The number of deleted slots.
  mutating func purge(in schema: StoreSchema, _ isPurged: (ParkedSlot) -> Bool) throws -> Int {
    let purged = slots.filter(isPurged)
    // Triggers can't refer to tables that are gone; otherwise they merely find nothing.
    if purged.count == slots.count { try dropTriggers(schema) }
    try remove(purged)
    return purged.count
  }
}

extension ParkedValues {
  /// Changes the parked values of a store in a transaction of its own.
  static func change(
    at url: URL, options: StoreOptions, registry: ModelRegistry? = nil,
    _ body: (inout ParkedValues, StoreCatalog) throws -> Void
  ) throws {
    let location = StoreLocation(url)
    // Parked columns of a table can't be dropped meanwhile.
    try location.engine.finishConversions(in: location, options: options)
    let connection = try location.engine.connect(to: location, options: options)
    defer { connection.close() }
    try connection.transaction {
      let catalog = try connection.catalog()
      var parked = try ParkedValues(connection, registry: registry, catalog: catalog)
      try body(&parked, catalog)
    }
  }
}
