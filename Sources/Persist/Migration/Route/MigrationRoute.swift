/// The way from one version to another: which versions it leads through, and how each part of it is done.
///
/// Where there is a mapping model for a hop, it is taken; where there is a stage with blocks, the store stops at the
/// versions that they want to see; hops between them that follow from the models alone are folded into one.
struct MigrationRoute: Sendable {
  enum Way: Sendable {
    case inPlace
    case mapping(MappingModel)
  }

  /// A part that is done in one go.
  struct Leg: Sendable {
    let chain: MigrationChain
    let way: Way
    /// Whether it follows from the models alone.
    let isInferred: Bool
    /// What is called with the store at the leg's first version, and at its last.
    var before: StagedMigration.Block?
    var after: StagedMigration.Block?
    /// Why there is no way, where there is none.
    var blockers: [MigrationBlocker] = []

    var source: ModelVersion { chain.source }
    var destination: ModelVersion { chain.destination }
  }

  let source: ModelVersion
  let destination: ModelVersion
  let legs: [Leg]
  let leadsBack: Bool

  /// Whether one transaction in the store's own file is all.
  var isInPlace: Bool {
    legs.allSatisfy { leg in
      guard case .inPlace = leg.way else { return false }
      return leg.before == nil && leg.after == nil
    }
  }

  var hopCount: Int { legs.reduce(0) { $0 + max(1, $1.chain.hops.count) } }
  var blockers: [MigrationBlocker] { legs.flatMap(\.blockers) }

  /// The hop that a leg is; of several in one, the last.
  func hop(ofLeg index: Int) -> MigrationProgress.Hop {
    let leg = legs[index]
    return MigrationProgress.Hop(
      number: legs[...index].reduce(0) { $0 + max(1, $1.chain.hops.count) }, count: hopCount, from: leg.source.name,
      to: leg.destination.name)
  }

  /// - Parameter isNewer: whether the source is known to be the newer one by other means than the registry.
  /// - Throws: ``PersistError/Code/mappingAmbiguous``, and what is wrong with a mapping model's file.
  init(
    from source: ModelVersion, to destination: ModelVersion, means: MigrationMeans, isNewer: Bool = false
  ) throws {
    let path = RoutePath(from: source, to: destination, means: means, isNewer: isNewer)
    self.source = source
    self.destination = destination
    leadsBack = path.direction == .back
    var legs: [Leg] = []
    var open: [ModelVersion] = []
    func chain(_ versions: [ModelVersion]) throws -> MigrationChain {
      try MigrationChain(
        through: versions, leadsBack: path.direction == .back, isOfOneFamily: path.direction != .unknown)
    }
    func close() throws {
      if open.count > 1 { legs.append(try Self.inferred(chain(open), means)) }
      open = []
    }
    for (from, to) in zip(path.versions, path.versions.dropFirst()) {
      let stage = means.staged?.customStage(from: from, to: to)
      let mapping = try means.mappingModel(from: from, to: to)
      if stage == nil, mapping == nil {
        open = open.isEmpty ? [from, to] : open + [to]
        continue
      }
      try close()
      let hop = try chain([from, to])
      var leg = mapping.map { Self.mapped(hop, $0, means) } ?? Self.inferred(hop, means)
      leg.before = stage?.willMigrate
      leg.after = stage?.didMigrate
      legs.append(leg)
    }
    try close()
    self.legs = legs
  }

  private static func mapped(_ chain: MigrationChain, _ mapping: MappingModel, _ means: MigrationMeans) -> Leg {
    var leg = Leg(chain: chain, way: .mapping(mapping), isInferred: false)
    do {
      _ = try plan(chain, mapping, means)
    } catch let error as PersistError {
      leg.blockers = [
        MigrationBlocker(
          error.code, entity: error.place.entity, property: error.place.property,
          what: "The step from '\(chain.source.name)' to '\(chain.destination.name)' by the mapping model "
            + "'\(mapping.name)' can't run: \(error.message)", fix: error.fix ?? "Mend the mapping model.")
      ]
    } catch {
      leg.blockers = [MigrationBlocker(.migrationFailed, what: "\(error)", fix: "Mend the mapping model.")]
    }
    return leg
  }

  /// What a mapping model means for a store that has nothing special.
  static func plan(_ chain: MigrationChain, _ mapping: MappingModel, _ means: MigrationMeans) throws -> CopyPlan {
    var planner = CopyPlanner(
      mapping, from: .forNewStore(chain.source.model), to: .forNewStore(chain.destination.model),
      storeIdentifier: "", policies: means.policies)
    return try planner.make()
  }

  /// Hops that follow from the models alone.
  private static func inferred(_ chain: MigrationChain, _ means: MigrationMeans) -> Leg {
    let way = means.copies ? Way.mapping(MappingModel(inferredBy: chain.comparison)) : .inPlace
    return Leg(chain: chain, way: way, isInferred: true, blockers: chain.blockers)
  }
}

/// Which versions a route leads through.
struct RoutePath {
  let versions: [ModelVersion]
  let direction: MigrationChain.Direction

  /// All versions between the two, except those that a mapping model leaps over, where none of the hops that it leaps
  /// over has a mapping model of its own.
  init(from source: ModelVersion, to destination: ModelVersion, means: MigrationMeans, isNewer: Bool) {
    if let staged = means.staged?.path(from: source, to: destination) {
      (versions, direction) = (staged, .forth)
      return
    }
    let path = MigrationChain.path(from: source, to: destination, registry: means.registry, isNewer: isNewer)
    direction = path.direction
    let all = path.versions
    var taken: [ModelVersion] = []
    var index = 0
    while index < all.count {
      taken.append(all[index])
      let leap = all.indices.reversed().first { end in
        end > index + 1 && means.hasMappingModel(from: all[index], to: all[end])
          && !(index..<end).contains { means.hasMappingModel(from: all[$0], to: all[$0 + 1]) }
      }
      index = leap ?? index + 1
    }
    versions = taken
  }
}
