extension IdentifiedStore {
  /// Whether the store is of a newer version than a model, as far as the store itself tells.
  ///
  /// It is where the store had the model before. Of a store whose version the registry doesn't know it is also newer
  /// where it had one of the registry's versions before, or where both are called by numbers, and its own is greater.
  /// The order of a registry's versions says nothing: it rests on names.
  func isNewer(than model: ManagedObjectModel) -> Bool {
    if metadata.descends(from: model) { return true }
    guard version == nil else { return false }
    if descendsFromKnownVersion { return true }
    guard let own = VersionNumber(metadata.versionIdentifiers), let other = VersionNumber(model.versionIdentifiers)
    else { return false }
    // Another application's versions have numbers of their own.
    let isRelated = self.model.entities.contains { model.entitiesByName[$0.name] != nil }
    return isRelated && other < own
  }

  /// The store's version; for a model that is none of the registry's, one that is made up for it.
  var source: ModelVersion {
    let name = model.versionIdentifiers.first { !$0.isEmpty } ?? "the store's own model"
    return version ?? ModelVersion(name: name, model: model)
  }
}
