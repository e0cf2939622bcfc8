import Foundation

/// Values that a migration to an older version parks, and that a later one restores.
extension InPlaceMigration {
  /// Forgets parked values that were replaced, and parks others, before anything is changed.
  ///
  /// - Returns: The number of parked values, objects and pairs.
  func prepareParking(_ parked: inout ParkedValues, _ survey: StoreSurvey) throws -> Int {
    if migrator.parking == .discarding { try parked.discard() }
    // A hop of a longer path has nothing to do with parking.
    guard hop == nil else { return 0 }
    try parked.forgetReplaced(in: survey.map, survey.hop.source)
    return try survey.parking.map { try parked.park($0) } ?? 0
  }
}

extension AutomaticMigrator {
  /// The resources of a migration that the models alone determine.
  func inPlaceResources(_ registry: ModelRegistry?) -> MigrationResources {
    MigrationResources(registry: registry, defersWork: defersWork, parking: parking)
  }
}

extension MigrationResources {
  /// Whether a version precedes another one in their family's order.
  func isOlder(_ version: ModelVersion, than other: ModelVersion) -> Bool {
    guard let versions = pathRegistry?.family(of: other)?.versions else { return false }
    func place(_ version: ModelVersion) -> Int? { versions.firstIndex { $0.model === version.model } }
    guard let own = place(version), let theirs = place(other) else { return false }
    return own < theirs
  }
}

extension StoreSurvey {
  /// Plans what is parked, or notes why nothing can be.
  func planParking(_ resources: MigrationResources) {
    do {
      let back = try MigrationPath(from: hop.destination, to: hop.source, resources: resources)
      guard back.isInPlace, let way = back.hops.first else {
        parkingObstacles = ["The way back to '\(hop.source.name)' isn't a migration in place, which restores values."]
        return
      }
      let plan = ParkingPlan(
        of: hop.source, in: map, ParkingComparison(there: hop.comparison, back: way.comparison))
      parkingObstacles = plan.obstacles
      if plan.obstacles.isEmpty { parking = plan }
    } catch let error as PersistenceError {
      parkingObstacles = [error.message]
    } catch {
      parkingObstacles = ["\(error)"]
    }
  }
}

extension ParkingPlan {
  /// The parts that are parked, with numbers of rows or pairs; parts without any are omitted.
  func counts(_ inspector: any StoreInspector) throws -> [MigrationLoss] {
    var found: [MigrationLoss] = []
    for part in parts {
      let rows = try inspector.count(part.count)
      guard rows > 0 else { continue }
      let what = MigrationLoss(part.kind, entity: part.entity, property: part.property)
      if let index = found.firstIndex(where: { $0.isSame(as: what) }) {
        found[index].rows = max(found[index].rows ?? 0, rows)
      } else {
        found.append(what.counting(rows))
      }
    }
    return found
  }
}

extension MigrationLoss {
  init(_ kind: ParkedSlot.Kind, entity: String, property: String) {
    let what =
      switch kind {
      case .object: "objects"
      case .attribute: "values"
      case .relationship: "pairs"
      }
    self.init(entity: entity, property: property.isEmpty ? nil : property, what: what)
  }

  func counting(_ rows: Int) -> MigrationLoss {
    var loss = self
    loss.rows = rows
    return loss
  }
}
