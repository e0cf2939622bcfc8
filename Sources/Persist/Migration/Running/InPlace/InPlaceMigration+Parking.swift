import Foundation

/// Values that a migration parks, and that a later one restores.
extension InPlaceMigration {
  /// Forgets parked values that were replaced or have expired, and parks others, before anything is changed.
  ///
  /// - Returns: The parked values, objects and pairs, with numbers.
  func prepareParking(_ parked: inout ParkedValues, _ survey: StoreSurvey) throws -> [MigrationLoss] {
    if migrator.parking == .discarding { try parked.discard() }
    if hop == nil {
      try parked.removeExpired(migrator.parkedLifetime, countingMigration: true)
      try parked.forgetReplaced(in: standIns?.map ?? survey.map, standIns?.version ?? survey.hop.source)
      try parked.collectColumns(before: survey.hop.destination, survey.moves)
    }
    let found = try survey.parking.map { try parked.park($0) } ?? []
    // Readers on a server wait from here on.
    try parked.dropTriggers(survey.store.catalog.schema)
    return found
  }

  /// Restores what has a place in the new version, after everything was changed.
  ///
  /// - Parameter schema: The schema after the changes.
  func settle(
    _ parked: inout ParkedValues, after survey: StoreSurvey, in map: TableMap, schema: StoreSchema
  ) throws -> (count: Int, tables: Set<String>, redundant: Int) {
    try parked.followColumns(in: schema, survey.moves)
    let result = try parked.settle(in: map, destination, after: survey.hop.comparison)
    try parked.dropEmptyColumns(of: schema)
    return result
  }
}
