/// The part of a store's path that stages determine.
enum StagedPath {
  /// No custom stage is between the two versions.
  case unneeded
  /// Versions of the path, among them the ends of every custom stage between the two versions.
  case through([ModelVersion])
  /// Custom stages that may be between the two versions, but can't be connected with both.
  case unconnected([StagedMigration.Stage])
}

extension StagedMigration {
  /// The part of the path from one version to another that the stages determine.
  ///
  /// A version that no stage lists is related to the stages by the order of its family's versions.
  ///
  /// - Parameter isDowngrade: Whether the second version is certainly older.
  func path(
    from source: ModelVersion, to destination: ModelVersion, registry: ModelRegistry?, isDowngrade: Bool
  ) -> StagedPath {
    if let start = place(of: source), let end = place(of: destination) {
      return start < end ? .through([source] + versions[(start + 1)..<end] + [destination]) : .unneeded
    }
    let custom = stages.filter(\.isCustom)
    guard !custom.isEmpty, !isDowngrade, !source.isStoredAlike(destination) else { return .unneeded }
    func reaches(_ first: ModelVersion, _ second: ModelVersion) -> Bool? {
      if first.isStoredAlike(second) { return true }
      if let first = place(of: first), let second = place(of: second) { return first < second }
      return registry?.precedes(first, second)
    }
    if reaches(destination, source) == true { return .unneeded }
    let needed = custom.filter { stage in
      reaches(destination, stage.versions[0]) != true && reaches(stage.versions[1], source) != true
    }
    guard let first = needed.first, let last = needed.last else { return .unneeded }
    let areConnected = needed.allSatisfy { stage in
      reaches(source, stage.versions[0]) == true && reaches(stage.versions[1], destination) == true
    }
    guard areConnected, let start = place(of: first.versions[0]), let end = place(of: last.versions[1]), start < end
    else { return .unconnected(needed) }
    // The store's and the wanted version may be instances of their own.
    var path = Array(versions[start...end])
    if source.isStoredAlike(path[0]) { path[0] = source }
    if destination.isStoredAlike(path[path.count - 1]) { path[path.count - 1] = destination }
    return .through(path)
  }

  /// The index of a version in ``versions``; nil if no stage lists it.
  private func place(of version: ModelVersion) -> Int? {
    versions.firstIndex { $0.model === version.model } ?? versions.firstIndex { $0.isStoredAlike(version) }
  }
}

extension ModelVersion {
  /// Whether stores of both versions are alike.
  fileprivate func isStoredAlike(_ other: ModelVersion) -> Bool {
    model === other.model || model.fingerprints == other.model.fingerprints
  }
}

extension ModelRegistry {
  /// Whether a version precedes another one in the order of a family that contains both, or versions that are stored
  /// alike; nil if there is no evidence.
  @inline(never)
  fileprivate func precedes(_ first: ModelVersion, _ second: ModelVersion) -> Bool? {
    families.lazy.compactMap { family -> Bool? in
      func member(_ version: ModelVersion) -> ModelVersion? {
        family.contains(version) ? version : family.versions.first { $0.isStoredAlike(version) }
      }
      guard let own = member(first), let other = member(second) else { return nil }
      return family.precedes(own, other)
    }.first
  }
}

extension MigrationBlocker {
  /// Creates the blocker for custom stages that would be skipped.
  init(unconnected stages: [StagedMigration.Stage], from source: ModelVersion, to destination: ModelVersion) {
    let names = stages.map { "'\($0.versions[0].name)' to '\($0.versions[1].name)'" }.joined(separator: ", ")
    self.init(
      .missingMappingModel,
      what: "The path from '\(source.name)' to '\(destination.name)' may need the custom stages from \(names), but the "
        + "order of the versions isn't known.",
      fix: "List both versions in the stages, or give the migration a registry that contains and orders all of them.")
  }
}
