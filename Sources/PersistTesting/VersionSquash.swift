package import Foundation
package import Persist

/// Removes the oldest versions of a model, which no store in the field has any longer.
///
/// The remaining versions migrate as before: this is verified before anything is removed.
package struct VersionSquash {
  /// A removed version, and what its removal means for stores of it.
  package struct Removal {
    package let version: ModelVersion
    /// The consequences in words; empty if a store of the version migrates as before, by the model that it contains.
    package let consequences: [String]
  }

  /// The removed versions, from the oldest to the newest.
  package let removals: [Removal]
  /// The mapping models from or to removed versions, which go with them.
  package let mappingModels: [MappingModelFile]
  private let family: ModelFamily

  /// Plans the removal of all versions that a version grew from, directly or indirectly; nothing is removed.
  ///
  /// - Parameters:
  ///   - name: the oldest version to keep.
  ///   - lineage: the parents of the family's versions.
  /// - Throws: `PersistenceError.Code.invalidRequest` if there is nothing to remove, if the versions aren't files of
  ///   their own, or if a remaining version would migrate in another way.
  package init(before name: String, in family: ModelFamily, lineage: VersionLineage, registry: ModelRegistry) throws {
    self.family = family
    guard let oldest = family.version(named: name) else {
      throw PersistenceError(
        .modelNotFound, "There is no version '\(name)' of '\(family.name)'.",
        fix: "There are \(family.versionNames.map { "'\($0)'" }.joined(separator: ", ")).")
    }
    let gone = Set(lineage.ancestors(of: oldest.name)).subtracting([oldest.name])
    let removed = family.versions.filter { gone.contains($0.name) }
    let kept = family.versions.filter { !gone.contains($0.name) }
    guard !removed.isEmpty else {
      throw PersistenceError(
        .invalidRequest, "'\(oldest.name)' grew from no other version.", fix: "Name the oldest version to keep.")
    }
    guard kept.contains(where: { $0.name == family.current.name }) else {
      throw PersistenceError(
        .invalidRequest, "The current version '\(family.current.name)' is older than '\(oldest.name)'.",
        fix: "Make a version that remains the current one.")
    }
    for version in removed where !["xcdatamodel", "json"].contains(version.url?.pathExtension.lowercased() ?? "") {
      throw PersistenceError(
        .invalidRequest, at: PersistenceError.Place(file: version.url),
        "'\(version.name)' is compiled or written in code, and can't be removed.", fix: "Name the model's sources.")
    }
    mappingModels = registry.mappingModels.filter { file in
      let touched = removed.contains { gone in
        family.versions.contains { file.isFor(from: gone, to: $0) || file.isFor(from: $0, to: gone) }
      }
      return touched && (file.familyName == nil || file.familyName == family.name)
    }
    let gonePaths = Set(mappingModels.map(\.url))
    let rest = ModelRegistry(
      families: registry.families.filter { $0.name != family.name }
        + [ModelFamily(family.name, versions: kept, current: family.current.name, url: family.url)],
      mappingModels: registry.mappingModels.filter { !gonePaths.contains($0.url) })
    for version in kept {
      guard
        Self.outline(from: version, to: family.current, registry: registry)
          == Self.outline(from: version, to: family.current, registry: rest)
      else {
        throw PersistenceError(
          .invalidRequest,
          "Without the versions before '\(oldest.name)', '\(version.name)' would migrate in another way.",
          fix: "Keep more versions.")
      }
    }
    removals = removed.map { version in
      Removal(version: version, consequences: Self.consequences(version, family.current, before: registry, after: rest))
    }
  }

  /// Removes the versions from the lock, and then their files and mapping models.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess`; what was removed so far remains removed.
  package func run(lock: inout ModelLock?, at lockFile: URL) throws {
    for removal in removals {
      lock?.remove(ModelLock.Version(model: family.name, name: removal.version.name))
    }
    try lock?.write(to: lockFile)
    for url in removals.compactMap(\.version.url) + mappingModels.map(\.url) {
      do {
        try FileManager.default.removeItem(at: url)
      } catch {
        throw PersistenceError(
          .fileAccess, at: .file(url), "The version can't be removed: \(error.localizedDescription)",
          fix: "Remove it by hand.")
      }
    }
  }

  /// The steps and losses of a migration in words; the error if there is no plan.
  private static func outline(
    from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry
  ) -> String {
    do {
      let plan = try MigrationPlan(from: source, to: destination, registry: registry)
      let parts = [plan] + plan.hops
      return parts.map { part in
        "\(part.way.rawValue) \(part.from) \(part.to) \(part.steps.map(\.operation)) \(part.losses.map(\.what))"
      }.joined(separator: "\n")
    } catch {
      return "\(error)"
    }
  }

  private static func consequences(
    _ version: ModelVersion, _ current: ModelVersion, before: ModelRegistry, after: ModelRegistry
  ) -> [String] {
    do {
      let old = try? MigrationPlan(from: version, to: current, registry: before)
      let new = try MigrationPlan(from: version, to: current, registry: after)
      guard new.isPossible else { return new.blockers.map { "can no longer be migrated: \($0.what)" } }
      let known = Set(old?.losses.map { "\($0.entity).\($0.property ?? "")" } ?? [])
      let losses = new.losses.filter { !known.contains("\($0.entity).\($0.property ?? "")") }.map { loss in
        "would lose \([loss.entity, loss.property].compactMap { $0 }.joined(separator: ".")): \(loss.what)"
      }
      let usedMapping = old.map { $0.way == .copy && new.way != .copy } ?? false
      return losses + (usedMapping ? ["would be migrated without a mapping model"] : [])
    } catch {
      return ["can no longer be migrated: \(error)"]
    }
  }
}
