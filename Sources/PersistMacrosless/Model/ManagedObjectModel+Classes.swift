public import Persist

extension ManagedObjectModel {
  /// The model that classes declare.
  ///
  /// ```swift
  /// let model = try ManagedObjectModel(Item.self, Category.self, version: "3")
  /// ```
  ///
  /// A class is an entity; one whose parent is named too is a subentity of it. Properties of a parent that isn't named
  /// are the class's own. Contexts over the model make objects of these classes, without registering them.
  ///
  /// A model from classes equals the same model from a file, for stores and migrations. Older versions are no classes:
  /// they come from files, are written with ``ManagedObjectModel/init(version:_:)``, or are what the store says of
  /// itself.
  ///
  /// - Parameters:
  ///   - classes: every class of the model, in any order.
  ///   - version: what the author calls the version; nil for nothing.
  ///   - configurations: names with the classes that stores opened for them hold.
  /// - Throws: ``PersistenceError/Code/invalidModel`` with every problem at once, each with its place and its mend: a
  ///   relationship without inverse, one that leads to a class that isn't named, two properties of one name.
  public convenience init(
    _ classes: ManagedObject.Type..., version: String? = nil, configurations: [String: [ManagedObject.Type]] = [:]
  ) throws {
    try self.init(classes: classes, version: version, configurations: configurations)
  }

  /// The model that classes declare, for a list of them that is made elsewhere.
  public convenience init(
    classes: [ManagedObject.Type], version: String? = nil, configurations: [String: [ManagedObject.Type]] = [:]
  ) throws {
    let plan = try ModelFromClasses(classes, version: version, configurations: configurations).checked()
    try self.init(plan.description, classes: plan.classes)
  }
}
