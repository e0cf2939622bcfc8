extension IdentifiedStore {
  /// Whether the store is of a newer version than a model, as far as the store itself tells: it had the model before,
  /// or both are called by numbers, and its own is greater.
  ///
  /// Where the registry knows the store's version, the order of the versions there says it.
  func isNewer(than model: ManagedObjectModel) -> Bool {
    guard version == nil else { return false }
    if metadata.descends(from: model) { return true }
    guard let own = VersionNumber(metadata.versionIdentifiers), let other = VersionNumber(model.versionIdentifiers)
    else { return false }
    // Another application's versions have numbers of their own.
    let isRelated = self.model.entities.contains { model.entitiesByName[$0.name] != nil }
    return isRelated && other < own
  }
}

/// A version identifier that is a number, such as `3` or `2.1`.
private struct VersionNumber: Comparable {
  private let parts: [Int]

  /// Nil unless there is one identifier, and it is a number.
  init?(_ identifiers: [String]) {
    let identifiers = identifiers.filter { !$0.isEmpty }
    guard let text = identifiers.first, identifiers.count == 1 else { return nil }
    let texts = text.split(separator: ".", omittingEmptySubsequences: false)
    parts = texts.compactMap { Int($0) }
    guard parts.count == texts.count else { return nil }
  }

  static func < (left: VersionNumber, right: VersionNumber) -> Bool {
    left.parts.lexicographicallyPrecedes(right.parts)
  }
}
