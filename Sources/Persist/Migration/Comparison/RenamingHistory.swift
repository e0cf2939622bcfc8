/// The renames between two versions, including those that only other versions of their family record.
///
/// Two versions are first matched directly, as Core Data does. A chain of names through other versions, `a` → `b` (was
/// `a`) → `c` (was `b`), applies to what the direct match leaves unmatched in both versions: data is kept if either way
/// keeps it. If a version in between lacks an attribute, its values are still kept.
///
/// If the order of the versions in between is certain, names mean what they meant in each of them: in `{x, y}` →
/// `{y (was x), x (was y)}` → `{y, z (was x)}`, `z` has the values of the first `y`, although its identifier names the
/// first `x`. The direct match remains where it keeps more.
struct RenamingHistory {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// The direct match.
  let direct: ModelCorrespondence

  /// - Parameter versions: the versions in between, if their order is certain.
  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name has several possible sources, or several share one,
  ///   and the versions in between don't tell them apart.
  init(
    from source: ManagedObjectModel, to destination: ManagedObjectModel, through versions: [ManagedObjectModel] = []
  ) throws {
    self.source = source
    self.destination = destination
    do {
      direct =
        source.fingerprints == destination.fingerprints
        ? ModelCorrespondence(storedAlike: source, as: destination)
        : try ModelCorrespondence(from: source, to: destination)
    } catch {
      guard !versions.isEmpty, let steps = Self.steps(from: source, through: versions, to: destination) else {
        throw error
      }
      direct = steps
    }
  }

  var hasOpenEnds: Bool { hasOpenEnds(direct) }

  func hasOpenEnds(_ correspondence: ModelCorrespondence) -> Bool {
    source.fingerprints != destination.fingerprints
      && correspondence.hasOpenEnds(from: source, to: destination)
  }

  /// The correspondence through a sequence of versions, as if the store were migrated to each of them.
  ///
  /// Skips versions whose identifiers conflict with those of the version before.
  func through(_ versions: [ManagedObjectModel]) -> ModelCorrespondence? {
    Self.steps(from: source, through: versions, to: destination)
  }

  private static func steps(
    from source: ManagedObjectModel, through versions: [ManagedObjectModel], to destination: ManagedObjectModel
  ) -> ModelCorrespondence? {
    var (last, whole): (ManagedObjectModel, ModelCorrespondence?) = (source, nil)
    for version in versions + [destination] {
      guard let next = try? RenamingHistory(from: last, to: version).direct else { continue }
      whole = whole?.followed(by: next) ?? next
      last = version
    }
    return last === destination ? whole : nil
  }

  /// The correspondence through versions in their certain order, completed by the direct one; nil for models with the
  /// same storage, which no migration can tell apart.
  func steps(through versions: [ManagedObjectModel]) -> ModelCorrespondence? {
    guard !versions.isEmpty, source.fingerprints != destination.fingerprints else { return nil }
    return through(versions)?.completed(by: direct, from: source, to: destination)
      .filling(from: source, to: destination)
  }

  /// The correspondences that other versions imply, in whatever order the versions were made.
  ///
  /// From the source to each version, and from there on, the direct match takes precedence; the one through the
  /// previous version completes it.
  ///
  /// - Parameters:
  ///   - versions: the versions in order, or in any order if `inAnyOrder`.
  ///   - inAnyOrder: whether each version may precede and follow every other one.
  /// - Complexity: one match per version; if `inAnyOrder`, one per pair of versions, for up to ``pairLimit`` versions.
  func completion(by versions: [ManagedObjectModel], inAnyOrder: Bool) -> [ModelCorrespondence] {
    var reached: [(model: ManagedObjectModel, correspondence: ModelCorrespondence)] = versions.compactMap { version in
      (try? RenamingHistory(from: source, to: version)).map { (version, $0.direct) }
    }
    let rounds = inAnyOrder ? (reached.count <= Self.pairLimit ? 2 : 0) : 1
    for _ in 0..<rounds {
      for index in reached.indices {
        let earlier = inAnyOrder ? Array(reached.indices) : [index - 1].filter { $0 >= 0 }
        for other in earlier where other != index {
          let (model, known) = reached[index]
          guard known.hasOpenEnds(from: source, to: model),
            let step = try? RenamingHistory(from: reached[other].model, to: model).direct
          else { continue }
          reached[index].correspondence = known.completed(
            by: reached[other].correspondence.followed(by: step), from: source, to: model)
        }
      }
    }
    // The last versions are closest to the destination.
    return reached.reversed().compactMap { model, known in
      (try? RenamingHistory(from: model, to: destination)).map { known.followed(by: $0.direct) }
    }
  }

  /// The maximum number of versions of unknown order for which pairs are tried.
  private static let pairLimit = 16
}
