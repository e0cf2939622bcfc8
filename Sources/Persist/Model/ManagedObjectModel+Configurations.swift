extension ManagedObjectModel {
  /// The names of the model's configurations, sorted.
  public var configurations: [String] { description.configurations.keys.sorted() }

  /// Returns the entities of a configuration, in the order of ``entities``; nil if the model has no such configuration.
  ///
  /// - Parameter name: nil for the default configuration, which has every entity.
  public func entities(forConfigurationName name: String?) -> [Entity]? {
    guard let name else { return entities }
    guard let names = description.configurations[name].map(Set.init) else { return nil }
    return entities.filter { names.contains($0.name) }
  }
}
