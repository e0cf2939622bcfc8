/// The renamings between two versions, those included that only other versions of their family record.
///
/// Two versions are matched directly first, as Core Data does. A chain of names through other versions, `a` → `b`
/// (was `a`) → `c` (was `b`), decides only about what the direct match leaves unmatched in both versions: what either
/// way keeps is kept. A version between that lacks an attribute empties nothing.
struct RenamingHistory {
  let source: ManagedObjectModel
  let destination: ManagedObjectModel
  /// The direct match.
  let direct: ModelCorrespondence

  /// - Throws: ``PersistenceError/Code/mappingAmbiguous`` where two things take their place from the same one.
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

  /// The way through versions one after the other, as if the store were migrated to each of them.
  ///
  /// A pair of versions whose identifiers contradict each other is passed over.
  func through(_ versions: [ManagedObjectModel]) -> ModelCorrespondence? {
    var (last, whole): (ManagedObjectModel, ModelCorrespondence?) = (source, nil)
    for version in versions + [destination] {
      guard let next = try? RenamingHistory(from: last, to: version).direct else { continue }
      whole = whole?.followed(by: next) ?? next
      last = version
    }
    return last === destination ? whole : nil
  }

  /// The match of what other versions can tell, in whatever order they were made.
  ///
  /// From the source to each version, and from there on, the direct match comes first and that by way of the version
  /// before completes it.
  ///
  /// - Parameters:
  ///   - versions: in their order, or in any order if `inAnyOrder`.
  ///   - inAnyOrder: whether each version may come before and after each other one.
  /// - Complexity: a match for each version; for each pair of versions if `inAnyOrder`, up to ``pairLimit`` versions.
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
    // The last versions are nearest to the destination.
    return reached.reversed().compactMap { model, known in
      (try? RenamingHistory(from: model, to: destination)).map { known.followed(by: $0.direct) }
    }
  }

  /// Up to how many versions of unknown order are tried in pairs.
  private static let pairLimit = 16
}
