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
  /// Plans to park what the migration would otherwise destroy.
  package func planParkingOfLosses(_ registry: ModelRegistry?) {
    guard !work.losses.isEmpty else { return }
    let back = ModelComparison.leadingBack(from: hop, registry)
    adopt(ParkingPlan(lossesOf: hop.source, in: map, ParkingComparison(there: hop.comparison, back: back)))
    parksOnlyLosses = parking != nil
  }

  /// Plans to park everything that wouldn't be the same after the migration and the way back; only what would be lost
  /// if something prevents the rest.
  package func planParkingOfReturn(_ registry: ModelRegistry?) {
    let back = ModelComparison.leadingBack(from: hop, registry)
    let plan = ParkingPlan(of: hop.source, in: map, ParkingComparison(there: hop.comparison, back: back))
    guard plan.obstacles.isEmpty else { return planParkingOfLosses(registry) }
    adopt(plan)
  }

  /// Parks what a plan says, in its columns as far as these remain.
  private func adopt(_ plan: ParkingPlan) {
    var plan = plan
    plan.keepColumns(work.keptColumns, moves)
    if !plan.parts.isEmpty { parking = plan }
  }

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

extension ModelComparison {
  /// The comparison for the way back; by the names that the way there used where the models contradict themselves.
  static func leadingBack(from hop: MigrationHop, _ registry: ModelRegistry?) -> ModelComparison {
    if let back = try? MigrationHop(from: hop.destination, to: hop.source, registry: registry) {
      return back.comparison
    }
    var correspondence = ModelCorrespondence()
    correspondence.entities = Dictionary(
      hop.comparison.correspondence.entities.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    return ModelComparison(from: hop.destination.model, to: hop.source.model, by: correspondence)
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
