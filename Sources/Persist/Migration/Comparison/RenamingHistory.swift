/// The renames between two versions, including those that only other versions of their family record.
///
/// Two versions are first matched directly, as Core Data does. A chain of names through other versions, `a` → `b` (was
/// `a`) → `c` (was `b`), only applies to what the direct match leaves unmatched in both versions: data is kept if
/// either way keeps it. If a version in between lacks an attribute, its values are still kept.
struct RenamingHistory {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// The direct match.
  let direct: ModelCorrespondence

  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` if a name has several possible sources, or several share one.
  init(from source: ManagedObjectModel, to destination: ManagedObjectModel) throws {
    self.source = source
    self.destination = destination
    direct =
      source.fingerprints == destination.fingerprints
      ? ModelCorrespondence(storedAlike: source, as: destination)
      : try ModelCorrespondence(from: source, to: destination)
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
    var (last, whole): (ManagedObjectModel, ModelCorrespondence?) = (source, nil)
    for version in versions + [destination] {
      guard let next = try? RenamingHistory(from: last, to: version).direct else { continue }
      whole = whole?.followed(by: next) ?? next
      last = version
    }
    return last === destination ? whole : nil
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
