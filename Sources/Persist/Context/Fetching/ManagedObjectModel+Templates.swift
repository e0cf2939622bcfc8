extension ManagedObjectModel {
  /// The request for objects that the model holds under a name, its variables still in it; nil where it holds none.
  ///
  /// - Throws: as ``FetchRequest/init(_:)``.
  public func fetchRequestTemplate(named name: String) throws -> FetchRequest<ManagedObject>? {
    try fetchRequestTemplate(named: name, returning: ManagedObject.self)
  }

  /// The request for objects that the model holds under a name, with values in place of its variables.
  ///
  /// - Throws: as ``FetchRequest/init(_:)``; ``PersistenceError/Code/invalidRequest`` where a variable has no value.
  public func fetchRequestFromTemplate(
    withName name: String, substitutionVariables values: [String: any FetchArgument]
  ) throws -> FetchRequest<ManagedObject>? {
    try fetchRequestFromTemplate(withName: name, substitutionVariables: values, returning: ManagedObject.self)
  }
}
