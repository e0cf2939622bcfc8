import Foundation

extension StoreEvidence {
  /// Finds the model that the store was written with.
  ///
  /// The evidence is examined in this order: Persist's fingerprints; Core Data's hashes, if a version has them, of all
  /// its entities or of those of one configuration; the embedded model, compared with the versions by structure; and,
  /// if there is no embedded model or it doesn't match the tables, tables and columns. If several versions match, the
  /// one with the store's version identifiers is chosen, then the one whose rules and defaults are closest to the
  /// embedded model's, then the newest. A current version that matches by fingerprints or hashes and has the store's
  /// version identifiers, or its complete text if there are none, is chosen without reading others. If none matches,
  /// the result is the embedded model itself.
  ///
  /// An embedded model takes precedence over the columns, which can't distinguish versions that differ in an
  /// attribute's optionality.
  ///
  /// - Throws: ``PersistenceError/Code/missingSourceModel``, which names the nearest version and every difference.
  package func identify(among registry: ModelRegistry?) throws -> IdentifiedModel {
    let current = (registry?.families ?? []).map { Candidate(version: $0.current, family: $0) }
    if let found = current.first(where: isCertain) {
      return found.identified(by: persistFingerprints == nil ? .registry : .fingerprint)
    }
    let candidates = (registry?.families ?? []).flatMap { family in
      family.versions.map { Candidate(version: $0, family: family) }
    }
    if let persistFingerprints,
      let found = best(of: candidates.filter { $0.version.model.fingerprints == persistFingerprints })
    {
      return found.identified(by: .fingerprint)
    }
    if !coreDataHashes.isEmpty,
      let found = best(of: candidates.filter { coreDataHashes.hasSameBytes(as: $0.version.coreDataHashes) })
        ?? best(of: candidates.filter { isOfConfiguration($0.version) })
    {
      return found.identified(by: .registry)
    }
    let possible = candidates.filter { !isExcluded($0.version) }
    if let embeddedModel {
      // A program that doesn't know embedded models may have migrated the store; a matching version is preferable then.
      if embeddedModelError != nil,
        let found = best(of: possible.filter { schemaDifferences($0.version.model).isEmpty })
      {
        return found.identified(by: .columns)
      }
      if let found = best(of: possible.filter { embeddedModel.isStoredLike($0.version.model) }) {
        return found.identified(by: .registry)
      }
      return IdentifiedModel(
        model: embeddedModel, origin: .embedded, version: nil, family: registry?.family(closestTo: embeddedModel))
    }
    if let found = best(of: possible.filter { differences(of: $0.version.model).isEmpty }) {
      return found.identified(by: .columns)
    }
    throw unknownModel(candidates, registry: registry)
  }

  /// Whether Persist's fingerprints are those of the current version, or of exactly one version.
  package func namesOneVersion(of registry: ModelRegistry) -> Bool {
    guard let persistFingerprints else { return false }
    return registry.families.contains { isCertain(Candidate(version: $0.current, family: $0)) }
      || registry.versions.count(where: { $0.model.fingerprints == persistFingerprints }) == 1
  }

  /// Describes the differences between the store and a model in sentences, based on the best evidence available.
  func differences(of model: ManagedObjectModel) -> [String] {
    if let embeddedModel {
      return ModelDifference.between(store: embeddedModel, model: model).filter { $0.weight == .storage }
        .map(\.description)
    }
    if !coreDataHashes.isEmpty {
      let names = (stored: Set(coreDataHashes.keys), model: Set(model.entitiesByName.keys))
      if names.stored != names.model, !model.hasConfiguration(of: names.stored) {
        return names.stored.subtracting(names.model).sorted().map { "The store has '\($0)'; the model doesn't." }
          + names.model.subtracting(names.stored).sorted().map { "The model has '\($0)'; the store doesn't." }
      }
    }
    return schemaDifferences(model)
  }

  // A class: versions and families have many fields, and candidates are filtered again and again.
  private final class Candidate {
    let version: ModelVersion
    let family: ModelFamily

    init(version: ModelVersion, family: ModelFamily) {
      self.version = version
      self.family = family
    }

    func identified(by origin: ModelOrigin) -> IdentifiedModel {
      IdentifiedModel(model: version.model, origin: origin, version: version, family: family)
    }
  }

  /// Whether a version is certainly the store's, so that no other need be read: by Persist's fingerprints or by Core
  /// Data's hashes of all entities, and by the version identifiers.
  private func isCertain(_ candidate: Candidate) -> Bool {
    let identifiers = candidate.version.model.versionIdentifiers.filter { !$0.isEmpty }
    guard Set(identifiers) == Set(versionIdentifiers.filter { !$0.isEmpty }) else { return false }
    if let persistFingerprints {
      guard candidate.version.model.fingerprints == persistFingerprints else { return false }
      // Without identifiers, versions that are stored in the same form differ only in their text.
      return !identifiers.isEmpty || candidate.family.versionNames.count == 1
        || candidate.version.model.digest.hasSameBytes(as: modelDigest)
    }
    return !coreDataHashes.isEmpty && coreDataHashes.hasSameBytes(as: candidate.version.coreDataHashes)
  }

  /// Whether Core Data's hashes are known for both the version and the store, and differ.
  private func isExcluded(_ version: ModelVersion) -> Bool {
    guard !coreDataHashes.isEmpty, persistFingerprints == nil, let hashes = version.coreDataHashes else { return false }
    return !hashes.hasSameBytes(as: coreDataHashes) && !isOfConfiguration(version)
  }

  /// Whether the store was created for one configuration of a version: its hashes are those of the configuration's
  /// entities.
  private func isOfConfiguration(_ version: ModelVersion) -> Bool {
    guard let hashes = version.coreDataHashes, version.model.hasConfiguration(of: Set(coreDataHashes.keys)) else {
      return false
    }
    return hashes.contains(coreDataHashes)
  }

  private func best(of candidates: [Candidate]) -> Candidate? {
    guard candidates.count > 1 else { return candidates.first }
    let identifiers = Set(versionIdentifiers.filter { !$0.isEmpty })
    let named = candidates.filter { Set($0.version.model.versionIdentifiers.filter { !$0.isEmpty }) == identifiers }
    let rest = named.isEmpty ? candidates : named
    guard let embeddedModel else { return rest.last }
    let counted = rest.map { ($0, ModelDifference.between(store: embeddedModel, model: $0.version.model).count) }
    let least = counted.map(\.1).min()
    return counted.last { $0.1 == least }?.0
  }

  private func unknownModel(_ candidates: [Candidate], registry: ModelRegistry?) -> PersistenceError {
    var errors = [embeddedModelError].compactMap { $0 } + (registry?.problems ?? [])
    let compared = candidates.map { ($0, differences(of: $0.version.model)) }
    guard let (nearest, found) = compared.min(by: { $0.1.count < $1.1.count }) else {
      return PersistenceError(
        .missingSourceModel, at: .store(url), "The store contains no readable model, and none was given.",
        fix: "Provide the model that the store was written with (`--models`).", errors: errors)
    }
    // The columns are equal but the hashes differ: only the hashes can show the difference.
    let words =
      found.isEmpty
      ? Fingerprint.differences(stored: coreDataHashes, model: nearest.version.coreDataHashes ?? Dictionary()) : found
    errors += words.map { PersistenceError(.incompatibleModel, at: .store(url), $0) }
    return PersistenceError(
      .missingSourceModel, at: .store(url),
      "None of the \(candidates.count) model versions given is the store's. The closest is '\(nearest.version.name)', "
        + "with \(words.count) differences.",
      fix: "Provide the model that the store was written with (`--models`).", errors: errors)
  }
}
