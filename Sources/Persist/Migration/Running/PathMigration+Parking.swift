import Foundation

/// Parked values of a store that is copied: they have the keys of their objects, which the copies keep.
extension PathMigration {
  /// - Returns: A copy of the store in which parked values were deleted that have expired or were replaced; the store
  ///   itself if nothing is parked in it.
  func forgettingReplacedValues(of store: URL, _ survey: PathSurvey) throws -> URL {
    guard !survey.slots.isEmpty, migrator.effectiveParking != .discarding else { return store }
    let file = try own(store, for: store, number: 0)
    try ParkedValues.change(at: file, options: options, registry: resources.pathRegistry) { parked, catalog in
      try parked.dropTriggers(catalog.schema)
      try parked.removeExpired(migrator.parkedLifetime, countingMigration: true)
      try parked.forgetReplaced(in: survey.store.tableMap, survey.path.source)
      try parked.collect { _, _ in true }
      try parked.dropEmptyColumns(of: catalog.schema)
    }
    return file
  }

  /// Parks what an inferred hop that copies the file would lose.
  ///
  /// - Parameter file: The file before the hop; afterward a copy if it was the store itself.
  func parkLosses(
    of hop: MigrationHop, in file: inout URL, _ store: URL, _ number: Int
  ) throws -> [MigrationLoss] {
    guard migrator.effectiveParking == .always else { return [] }
    let registry = ModelRegistry(versions: [hop.source, hop.destination])
    let plan = try StoreLocation(file).inspect { inspector -> ParkingPlan? in
      let survey = StoreSurvey(try inspector.identify(among: registry), hop: hop)
      survey.planParkingOfLosses(registry)
      guard let plan = survey.parking, try !plan.counts(inspector).isEmpty else { return nil }
      return plan
    }
    guard let plan else { return [] }
    file = try own(file, for: store, number: number)
    var contents: [MigrationLoss] = []
    try ParkedValues.change(at: file, options: options, registry: registry) { parked, _ in
      contents = try parked.park(plan)
    }
    return contents
  }

  /// Restores what has a place in the last version.
  ///
  /// - Returns: The number of restored values, objects and pairs.
  func restoreParkedValues(in file: URL, _ survey: PathSurvey) throws -> Int {
    guard try StoreLocation(file).inspect({ try !$0.parkedSlots().isEmpty }) else {
      return 0
    }
    var count = 0
    try ParkedValues.change(at: file, options: options, registry: resources.pathRegistry) { parked, catalog in
      try parked.dropTriggers(catalog.schema)
      parked.restrict(toSlotsUpTo: survey.slots.last)
      let map = catalog.tableMap(of: destination.model)
      count = try parked.settle(in: map, destination, after: survey.direct.hop.comparison).count
      try survey.direct.verifyRestoredReferences(in: map, parked.connection, url)
    }
    return count
  }
}
