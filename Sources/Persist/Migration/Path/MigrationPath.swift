/// The path from one version to another: the hops of a migration.
///
/// Anything that the models alone determine is one hop, directly from the first version to the last, as in Core Data.
/// Versions in between serve only two purposes: an application's mapping model or stage between them is a separate hop,
/// and renames that only they record are looked up in them.
package struct MigrationPath: Sendable {
  let source: ModelVersion
  let destination: ModelVersion
  package let hops: [MigrationHop]

  /// Whether the whole path is a single transaction in the store's own file.
  package var isInPlace: Bool {
    hops.allSatisfy { hop in
      guard case .inPlace = hop.method else { return false }
      return hop.before == nil && hop.after == nil
    }
  }

  var blockers: [MigrationBlocker] { hops.flatMap(\.blockers) }

  /// A hop's description for progress reports.
  func reportedHop(_ index: Int) -> MigrationProgress.Hop {
    MigrationProgress.Hop(
      number: index + 1, count: hops.count, from: hops[index].source.name, to: hops[index].destination.name)
  }

  /// - Parameter isDowngrade: Whether the target version is certainly older, so that no stage leads there.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous``, and errors in a mapping model's file.
  @inline(never)
  package init(
    from source: ModelVersion, to destination: ModelVersion, resources: MigrationResources, isDowngrade: Bool = false
  ) throws {
    self.source = source
    self.destination = destination
    let stops = PathStops(from: source, to: destination, resources: resources, isDowngrade: isDowngrade)
    var hops = try zip(stops.versions, stops.versions.dropFirst()).map { try Self.hop(from: $0, to: $1, resources) }
    if let blocker = stops.blocker { hops[0].blockers.insert(blocker, at: 0) }
    self.hops = hops
  }

  private static func hop(
    from source: ModelVersion, to destination: ModelVersion, _ resources: MigrationResources
  ) throws -> MigrationHop {
    let stage = resources.staged?.customStage(from: source, to: destination)
    var hop: MigrationHop
    if let mapping = try resources.mappingModel(from: source, to: destination) {
      hop = MigrationHop(from: source, to: destination, by: mapping)
      hop.blockers = blockers(of: mapping, in: hop, resources)
    } else {
      hop = try MigrationHop(from: source, to: destination, registry: resources.pathRegistry)
      if !resources.infersMapping, resources.staged == nil,
        source.model.fingerprints != destination.model.fingerprints
      {
        hop.blockers = [
          MigrationBlocker(
            .missingMappingModel,
            what: "There is no mapping model from '\(source.name)' to '\(destination.name)', and none is inferred.",
            fix: "Add a mapping model for the hop, or allow its inference (`infersMapping`).")
        ]
      }
      if resources.alwaysCopies { hop.method = .mapping(MappingModel(inferredBy: hop.comparison)) }
    }
    hop.before = stage?.willMigrate
    hop.after = stage?.didMigrate
    return hop
  }

  private static func blockers(
    of mapping: MappingModel, in hop: MigrationHop, _ resources: MigrationResources
  ) -> [MigrationBlocker] {
    do {
      _ = try plan(hop, by: mapping, resources: resources)
      return []
    } catch let error as PersistenceError {
      return [
        MigrationBlocker(
          error.code, entity: error.place.entity, property: error.place.property,
          what: "The hop from '\(hop.source.name)' to '\(hop.destination.name)' with the mapping model "
            + "'\(mapping.name)' can't run: \(error.message)", fix: error.fix ?? "Correct the mapping model.")
      ]
    } catch {
      return [MigrationBlocker(.migrationFailed, what: "\(error)", fix: "Correct the mapping model.")]
    }
  }

  /// Plans a mapping model for a generic store of the hop's source model.
  static func plan(_ hop: MigrationHop, by mapping: MappingModel, resources: MigrationResources) throws -> CopyPlan {
    var planner = CopyPlanner(
      mapping, from: .forNewStore(hop.source.model), to: .forNewStore(hop.destination.model),
      storeIdentifier: "", policies: resources.policies)
    return try planner.make()
  }

  /// Plans a mapping model for a store.
  static func plan(
    _ hop: MigrationHop, by mapping: MappingModel, resources: MigrationResources, in map: TableMap
  ) throws -> CopyPlan {
    var planner = CopyPlanner(
      mapping, from: map, to: .forNewStore(hop.destination.model, names: map.names), storeIdentifier: "",
      policies: resources.policies)
    return try planner.make()
  }

  /// The losses of a store by a mapping model, with the number of affected rows.
  static func losses(
    of mapping: MappingModel, in hop: MigrationHop, resources: MigrationResources, in map: TableMap,
    inspector: any StoreInspector
  ) throws -> [MigrationLoss] {
    try MappingLosses(plan(hop, by: mapping, resources: resources, in: map)).counted(inspector)
  }
}
