/// The versions that a migration goes through, and what it means as a whole.
///
/// From one version of a family to a later one the way leads through all versions in between, so that an attribute that
/// was renamed twice is found and a default that was given on the way counts. Their differences are folded into one.
struct MigrationChain: Sendable {
  /// One step from a version to another.
  struct Hop: Sendable {
    let source: ModelVersion
    let destination: ModelVersion
    let comparison: ModelComparison
  }

  let source: ModelVersion
  let destination: ModelVersion
  let hops: [Hop]
  /// From the first version to the last, all hops together.
  let comparison: ModelComparison
  /// Whether the way leads to an older version.
  let leadsBack: Bool
  /// Whether both ends are versions of one model of the registry.
  let isOfOneFamily: Bool

  /// - Parameter isNewer: whether the source is known to be the newer one by other means than the registry.
  /// - Throws: ``PersistError/Code/mappingAmbiguous`` where two things of a version take their place from the same one.
  init(
    from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry?, isNewer: Bool = false
  ) throws {
    let path = Self.path(from: source, to: destination, registry: registry, isNewer: isNewer)
    try self.init(
      through: path.versions.isEmpty ? [source, destination] : path.versions, leadsBack: path.direction == .back,
      isOfOneFamily: path.direction != .unknown, isStill: path.versions.isEmpty)
  }

  /// The chain through versions that are known already.
  ///
  /// - Parameter isStill: whether there is no hop at all: the first version is the last.
  init(through versions: [ModelVersion], leadsBack: Bool, isOfOneFamily: Bool, isStill: Bool = false) throws {
    precondition(versions.count > 1, "A chain leads from one version to another.")
    source = versions[0]
    destination = versions[versions.count - 1]
    self.leadsBack = leadsBack
    self.isOfOneFamily = isOfOneFamily
    hops = try isStill ? [] : zip(versions, versions.dropFirst()).map { from, to in
      Hop(source: from, destination: to, comparison: try ModelComparison(from: from.model, to: to.model))
    }
    guard let first = hops.first else {
      comparison = try ModelComparison(from: source.model, to: destination.model)
      return
    }
    let correspondence = hops.dropFirst().reduce(first.comparison.correspondence) {
      $0.followed(by: $1.comparison.correspondence)
    }
    comparison = ModelComparison(from: source.model, to: destination.model, by: correspondence)
  }

  /// What stands in the way whatever the rows are.
  var blockers: [MigrationBlocker] { comparison.operations.compactMap(\.obstacle) }

  /// Every version that the way begins at or leads through, but the last.
  var versions: [ModelVersion] { hops.isEmpty ? [source] : hops.map(\.source) }

  /// All hops, done as one.
  var hop: MigrationProgress.Hop {
    let count = max(hops.count, 1)
    return MigrationProgress.Hop(number: count, count: count, from: source.name, to: destination.name)
  }

  enum Direction { case forth, back, unknown }

  static func path(
    from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry?, isNewer: Bool
  ) -> (versions: [ModelVersion], direction: Direction) {
    let family = registry?.families.first { family in
      [source, destination].allSatisfy { wanted in family.versions.contains { $0.model === wanted.model } }
    }
    guard let versions = family?.versions,
      let start = versions.firstIndex(where: { $0.model === source.model }),
      let end = versions.firstIndex(where: { $0.model === destination.model })
    else { return ([source, destination], isNewer ? .back : .unknown) }
    if start == end { return ([], .forth) }
    return start < end ? (Array(versions[start...end]), .forth) : ([source, destination], .back)
  }
}
