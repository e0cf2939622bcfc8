public import Persist

extension ManagedObjectModel {
  /// Creates the model that classes declare.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(Item.self, Category.self, version: "3")
  /// ```
  ///
  /// Each class is an entity; if a class's parent is listed too, it is a subentity of the parent's. Properties of a
  /// parent that isn't listed belong to the class. Contexts over the model create objects of these classes, which need
  /// no registration.
  ///
  /// For stores and migrations, a model from classes equals the same model from a file. Older versions aren't classes:
  /// they are loaded from files, created with `ManagedObjectModel.init(version:_:)`, or read from the store.
  ///
  /// - Parameters:
  ///   - classes: every class of the model, in any order.
  ///   - version: the version identifier; nil for none.
  ///   - configurations: names of configurations, each with the classes that its stores contain.
  /// - Throws: `PersistenceError.Code.invalidModel` with all problems, each with its place and its fix: a
  ///   relationship without an inverse or with a destination class that isn't listed, a class of a configuration that
  ///   isn't listed, or two properties of the same name.
  public convenience init(
    _ classes: ManagedObject.Type..., version: String? = nil, configurations: [String: [ManagedObject.Type]] = [:]
  ) throws {
    try self.init(classes: classes, version: version, configurations: configurations)
  }

  /// Creates the model that the classes of an array declare.
  public convenience init(
    classes: [ManagedObject.Type], version: String? = nil, configurations: [String: [ManagedObject.Type]] = [:]
  ) throws {
    let plan = try ModelFromClasses(classes, version: version, configurations: configurations).checked()
    try self.init(plan.description, classes: plan.classes)
  }
}
