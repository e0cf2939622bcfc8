extension ManagedObjectModel {
  /// Returns the model's fetch request template with a name, with its variables unresolved; nil if there is none.
  ///
  /// - Throws: The errors of ``FetchRequest/init(_:)``.
  public func fetchRequestTemplate(named name: String) throws -> FetchRequest<ManagedObject>? {
    try fetchRequestTemplate(named: name, returning: ManagedObject.self)
  }

  /// Returns the model's fetch request template with a name, with its variables replaced by values.
  ///
  /// - Throws: The errors of ``FetchRequest/init(_:)``; ``PersistenceError/Code/invalidRequest`` if a variable has no
  ///   value.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables values: [String: any FetchArgument]
  ) throws -> FetchRequest<ManagedObject>? {
    try fetchRequestFromTemplate(withName: name, substitutionVariables: values, returning: ManagedObject.self)
  }
}
