extension IdentifiedStore {
  /// Whether the store is of a newer version than a model, as far as the store itself shows.
  ///
  /// It is newer if it had the model before. If the registry doesn't contain the store's version, the store is also
  /// newer if it had one of the registry's versions before, or if both versions have numbers and the store's is
  /// greater. The order of a registry's versions isn't evidence: it is based on names.
  func isNewer(than model: ManagedObjectModel) -> Bool {
    if metadata.descends(from: model) { return true }
    guard version == nil else { return false }
    if descendsFromKnownVersion { return true }
    guard let own = VersionNumber(metadata.versionIdentifiers), let other = VersionNumber(model.versionIdentifiers)
    else { return false }
    // Versions of other applications are numbered independently.
    let isRelated = self.model.entities.contains { model.entitiesByName[$0.name] != nil }
    return isRelated && other < own
  }

  /// The store's version; a substitute if its model isn't in the registry.
  var source: ModelVersion {
    let name = model.versionIdentifiers.first { !$0.isEmpty } ?? "the store's own model"
    return version ?? ModelVersion(name: name, model: model)
  }
}
