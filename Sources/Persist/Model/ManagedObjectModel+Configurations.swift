extension ManagedObjectModel {
  /// The names of the model's configurations, in name order.
  public var configurations: [String] { description.configurations.keys.sorted() }

  /// The entities of a configuration, in the order of ``entities``; nil where the model has no configuration of that
  /// name.
  ///
  /// - Parameter name: nil for the default configuration, which has every entity.
  public func entities(forConfigurationName name: String?) -> [Entity]? {
    guard let name else { return entities }
    guard let names = description.configurations[name].map(Set.init) else { return nil }
    return entities.filter { names.contains($0.name) }
  }
}
