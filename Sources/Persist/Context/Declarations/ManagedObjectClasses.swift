/// The mapping of entities to classes.
///
/// A model names an entity's class as text. The text alone never loads a class: only classes that the program
/// registered are used, and ``ManagedObject`` otherwise.
///
/// ```swift
/// ManagedObjectClasses.register(Item.self, Category.self)            // for every context of the process
/// let context = ManagedObjectContext(coordinator, classes: ["Item": Item.self])      // for one context
/// ```
public enum ManagedObjectClasses {
  private static let registered = LockProtected<[String: ManagedObject.Type]>([:])

  /// Registers classes under their names, with and without the module name, for contexts created from now on.
  public static func register(_ classes: ManagedObject.Type...) {
    registered.withLock { names in
      for type in classes {
        names[String(reflecting: type)] = type
        names[String(describing: type)] = type
      }
    }
  }

  /// Returns the classes of a model's entities, in model order.
  static func classes(
    of model: ManagedObjectModel, given: [String: ManagedObject.Type]
  ) -> [ManagedObject.Type] {
    model.entities.map { `class`(for: $0, given: given, of: model.classes) }
  }

  /// Returns the class of an entity: the given one, or else the model's, or else the registered class named by the
  /// entity or its parents.
  static func `class`(
    for entity: Entity, given: [String: ManagedObject.Type], of model: [String: AnyClass] = [:]
  ) -> ManagedObject.Type {
    var next: Entity? = entity
    while let current = next {
      if let type = given[current.name] ?? model[current.name] as? ManagedObject.Type { return type }
      if let name = current.description.className {
        let module = current.description.moduleName.map { "\($0).\(name)" }
        let type = registered.withLock { names in module.flatMap { names[$0] } ?? names[shortened(name, names)] }
        if let type { return type }
      }
      next = current.superentity
    }
    return ManagedObject.self
  }

  /// A model may name the class with a module that doesn't match, such as a leading dot for the current product's
  /// module.
  private static func shortened(_ name: String, _ names: [String: ManagedObject.Type]) -> String {
    if names[name] != nil { return name }
    return name.split(separator: ".").last.map(String.init) ?? name
  }
}
