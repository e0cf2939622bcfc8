/// A part of a migration that is executed as a unit, from one version to another.
///
/// A path consists of hops, a hop of steps. A migration that the models alone determine is one hop, however many
/// versions are in between; mapping models and stages are separate hops.
package struct MigrationHop: Sendable {
  /// The method of executing a hop.
  enum Method: Sendable {
    case inPlace
    indirect case mapping(MappingModel)
  }

  package let source: ModelVersion
  package let destination: ModelVersion
  package let comparison: ModelComparison
  /// Whether the versions belong together: by the registry's family, the same model, or a mapping model.
  let isOfOneFamily: Bool
  /// Versions that were certainly made between the two, for the lineage recorded in the store.
  let skipped: [ModelVersion]
  var method = Method.inPlace
  /// Whether the models alone determine the hop.
  var isInferred = true
  /// The blocks called with the store at the hop's first version, and at its last.
  var before: StagedMigration.Block?
  var after: StagedMigration.Block?
  /// Obstacles that don't depend on the rows.
  package var blockers: [MigrationBlocker]

  /// Whether the models alone determine the values: neither a mapping model nor a stage computes any.
  var isPure: Bool { isInferred && before == nil && after == nil }

  /// The hop's description for progress reports if it is the only one.
  var reported: MigrationProgress.Hop {
    MigrationProgress.Hop(number: 1, count: 1, from: source.name, to: destination.name)
  }

  /// Creates a hop in place that the models alone determine.
  ///
  /// - Parameter registry: the source of renames through other versions.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name has several possible sources, or several share one.
  package init(from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry?) throws {
    self.source = source
    self.destination = destination
    // An up-to-date store needs no other version.
    let family = source.model === destination.model ? nil : registry?.family(of: source)
    isOfOneFamily = source.model === destination.model || family?.contains(destination) == true
    let between = isOfOneFamily ? family?.versions(between: source, and: destination) : nil
    skipped = between.map { $0.isCertain ? $0.versions : [] } ?? []
    let history = try RenamingHistory(from: source.model, to: destination.model, through: skipped.map(\.model))
    comparison = Self.comparison(history, in: isOfOneFamily ? family : nil, through: between)
    blockers = comparison.operations.compactMap(\.obstacle)
  }

  /// Creates a hop executed by a mapping model. The comparison of the models only describes it.
  init(from source: ModelVersion, to destination: ModelVersion, by mapping: MappingModel) {
    self.source = source
    self.destination = destination
    isOfOneFamily = true
    skipped = []
    let history = try? RenamingHistory(from: source.model, to: destination.model)
    comparison = ModelComparison(
      from: source.model, to: destination.model,
      by: history?.direct ?? ModelCorrespondence(storedAlike: source.model, as: destination.model))
    method = .mapping(mapping)
    isInferred = false
    blockers = []
  }

  /// Compares two models by the direct match, completed from renames that other versions of the family record.
  private static func comparison(
    _ history: RenamingHistory, in family: ModelFamily?, through between: (versions: [ModelVersion], isCertain: Bool)?
  ) -> ModelComparison {
    func compare(_ correspondence: ModelCorrespondence) -> ModelComparison {
      ModelComparison(from: history.source, to: history.destination, by: correspondence)
    }
    var best = compare(history.direct)
    guard let family, let between else { return best }
    if between.isCertain {
      adopt(history.steps(through: between.versions.map(\.model)), in: &best, of: history, comparing: compare)
    }
    guard history.hasOpenEnds(best.correspondence) else { return best }
    complete(&best, by: history.completion(by: between.versions.map(\.model), inAnyOrder: false), history)
    guard !between.isCertain, history.hasOpenEnds(best.correspondence) else { return best }
    let others = family.versions.map(\.model).filter { $0 !== history.source && $0 !== history.destination }
    complete(&best, by: history.completion(by: others, inAnyOrder: true), history)
    return best
  }

  /// Adopts what names meant in the versions between instead of what they mean in both ends: everywhere if that keeps
  /// all that the direct match keeps, otherwise in the hierarchies where it does.
  private static func adopt(
    _ steps: ModelCorrespondence?, in best: inout ModelComparison, of history: RenamingHistory,
    comparing compare: (ModelCorrespondence) -> ModelComparison
  ) {
    guard let steps, steps != best.correspondence else { return }
    let obstacles = Set(best.operations.compactMap(\.obstacle))
    func isAdopted(_ correspondence: ModelCorrespondence) -> Bool {
      guard correspondence != best.correspondence, correspondence.keeps(best.correspondence) else { return false }
      let comparison = compare(correspondence)
      guard comparison.operations.compactMap(\.obstacle).allSatisfy(obstacles.contains) else { return false }
      best = comparison
      return true
    }
    if isAdopted(steps) { return }
    for root in history.destination.entities where root.superentity == nil {
      let hierarchy = history.destination.hierarchy(of: root)
      _ = isAdopted(best.correspondence.adoptingAttributes(of: hierarchy, from: steps))
    }
  }

  /// Adopts matches that don't make the migration impossible; those that do are rejected, and the others are kept.
  ///
  /// A relationship that is already matched is given up if the rows of an entity can't be kept otherwise.
  private static func complete(
    _ best: inout ModelComparison, by others: [ModelCorrespondence], _ history: RenamingHistory
  ) {
    let (old, new) = (history.source, history.destination)
    let obstacles = Set(best.operations.compactMap(\.obstacle))
    for other in others {
      guard history.hasOpenEnds(best.correspondence) else { return }
      var rejected: Set<ModelCorrespondence.Match> = []
      while true {
        let correspondence = best.correspondence.completed(by: other, from: old, to: new, rejecting: rejected)
        guard correspondence != best.correspondence else { break }
        let comparison = ModelComparison(from: old, to: new, by: correspondence)
        let added = comparison.operations.lazy.compactMap(\.obstacle).first { !obstacles.contains($0) }
        guard let added else {
          best = comparison
          break
        }
        var match = correspondence.match(causing: added, beyond: best.correspondence, from: old, to: new)
        if match == nil, obstacles.isEmpty {
          match = correspondence.knownMatch(causing: added, beyond: best.correspondence, from: old, to: new)
        }
        guard let match, rejected.insert(match).inserted else { break }
      }
    }
  }
}
