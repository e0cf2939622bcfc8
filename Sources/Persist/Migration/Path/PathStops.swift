/// The versions at which a store stops on its path: its own, those at the ends of mapping models and stages, and the
/// target version.
///
/// Pure: depends only on which hops have a mapping model or a stage.
struct PathStops {
  let versions: [ModelVersion]
  /// The obstacle if stages would be skipped; nil if there is none.
  let blocker: MigrationBlocker?

  /// - Parameter isDowngrade: Whether the target version is certainly older.
  init(
    from source: ModelVersion, to destination: ModelVersion, resources: MigrationResources, isDowngrade: Bool = false
  ) {
    let staged = resources.staged?.path(
      from: source, to: destination, registry: resources.pathRegistry, isDowngrade: isDowngrade)
    switch staged ?? .unneeded {
    case .through(let path):
      let stages = Self.stops(on: path) {
        resources.hasMappingModel(from: $0, to: $1) || resources.hasStage(from: $0, to: $1)
      }
      let before = Self.unstaged(from: source, to: path[0], resources).dropLast()
      let after = Self.unstaged(from: path[path.count - 1], to: destination, resources).dropFirst()
      versions = Array(before) + stages + Array(after)
      blocker = nil
    case .unconnected(let stages):
      versions = [source, destination]
      blocker = MigrationBlocker(unconnected: stages, from: source, to: destination)
    case .unneeded:
      versions = source.model === destination.model
        ? [source, destination] : Self.unstaged(from: source, to: destination, resources)
      blocker = nil
    }
  }

  /// The stops on a path without stages; a single one if both ends are the same.
  private static func unstaged(
    from source: ModelVersion, to destination: ModelVersion, _ resources: MigrationResources
  ) -> [ModelVersion] {
    guard source.model !== destination.model else { return [source] }
    // A mapping model of exactly these versions comes before ones of single steps, as in Core Data.
    if resources.hasMappingModel(from: source, to: destination) { return [source, destination] }
    guard resources.hasMappingModels, let family = resources.registry?.family(of: source), family.contains(destination)
    else { return [source, destination] }
    let between = family.versions(between: source, and: destination).versions
    let path =
      between.isEmpty
      ? Self.shortestPath(from: source, to: destination, among: family.versions, where: resources.hasMappingModel)
      : Self.leaping([source] + between + [destination], where: resources.hasMappingModel)
    return Self.stops(on: path, where: resources.hasMappingModel)
  }

  /// Omits versions that a mapping model skips, if none of the hops that it skips has a mapping model.
  private static func leaping(
    _ path: [ModelVersion], where isMapped: (ModelVersion, ModelVersion) -> Bool
  ) -> [ModelVersion] {
    var taken: [ModelVersion] = []
    var index = 0
    while index < path.count {
      taken.append(path[index])
      let leap = path.indices.reversed().first { end in
        end > index + 1 && isMapped(path[index], path[end])
          && !(index..<end).contains { isMapped(path[$0], path[$0 + 1]) }
      }
      index = leap ?? index + 1
    }
    return taken
  }

  /// The ends of the path, and of each hop that isn't inferred.
  private static dynamic func stops(
    on path: [ModelVersion], where isGiven: (ModelVersion, ModelVersion) -> Bool
  ) -> [ModelVersion] {
    let given = path.indices.dropLast().filter { isGiven(path[$0], path[$0 + 1]) }
    let stops = Set(given + given.map { $0 + 1 } + [path.startIndex, path.endIndex - 1])
    return path.indices.filter(stops.contains).map { path[$0] }
  }

  /// The path with the fewest mapping models, each starting where the previous one ends; the direct path if there is
  /// none.
  private static func shortestPath(
    from source: ModelVersion, to destination: ModelVersion, among versions: [ModelVersion],
    where isMapped: (ModelVersion, ModelVersion) -> Bool
  ) -> [ModelVersion] {
    var paths = [[source]]
    var open = versions.filter { $0.model !== source.model }
    while !paths.isEmpty {
      var longer: [[ModelVersion]] = []
      for path in paths {
        let next = open.filter { isMapped(path[path.count - 1], $0) }
        if next.contains(where: { $0.model === destination.model }) { return path + [destination] }
        open.removeAll { version in next.contains { $0.model === version.model } }
        longer += next.map { path + [$0] }
      }
      paths = longer
    }
    return [source, destination]
  }
}
