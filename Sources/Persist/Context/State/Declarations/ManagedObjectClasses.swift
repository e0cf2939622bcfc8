import Synchronization

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
  private static let registered = LockProtected<[String: ManagedObject.Type]>(Dictionary())
  /// The number of registrations.
  private static let revision = Atomic(0)

  /// Registers classes under their names, with and without the module name, for contexts created from now on.
  public static func register(_ classes: ManagedObject.Type...) {
    registered.withLock { names in
      for type in classes {
        names[String(reflecting: type)] = type
        names[String(describing: type)] = type
      }
      revision.add(1, ordering: .releasing)
    }
  }

  /// Returns the classes of a model's entities, in model order. An entity without a class of its own has its parent's.
  package static func classes(
    of model: ManagedObjectModel, given: [String: ManagedObject.Type]
  ) -> [ManagedObject.Type] {
    var classes: [ManagedObject.Type] = []
    classes.reserveCapacity(model.entities.count)
    // A parent comes before its subentities.
    for entity in model.entities {
      let inherited = entity.superentity.map { classes[$0.index] }
      classes.append(ownClass(of: entity, given: given, of: model.classes) ?? inherited ?? ManagedObject.self)
    }
    return classes
  }

  /// The classes of a model's entities without any given ones, and what contexts with these classes found out.
  final class Mapping: Sendable {
    /// In model order.
    let classes: [ManagedObject.Type]
    private let names = Lazy { KeyPathNames() }

    fileprivate init(_ classes: [ManagedObject.Type]) { self.classes = classes }

    /// Returns the property names of a key path, which are found once.
    func names(
      of keyPath: KeyPathReference, from entity: Entity, orFind find: () throws -> [String]
    ) rethrows -> [String] {
      try names.value.names(of: keyPath, from: entity, orFind: find)
    }
  }

  /// The property names of key paths.
  ///
  /// A class of its own, which is created when it is first used: for a dictionary with keys of a private type, Swift's
  /// runtime searches the conformances of all loaded libraries, which took a twelfth of the time to open a store.
  private final class KeyPathNames: Sendable {
    private struct NamedKeyPath: Hashable {
      let entity: Int
      let keyPath: KeyPathReference
    }

    private let names = LockProtected<[NamedKeyPath: [String]]>(Dictionary())
    /// Programs use few key paths; if one keeps making new ones, such as of subscripts, the cache is emptied.
    private static let limit = 1000

    func names(
      of keyPath: KeyPathReference, from entity: Entity, orFind find: () throws -> [String]
    ) rethrows -> [String] {
      let key = NamedKeyPath(entity: entity.number, keyPath: keyPath)
      if let known = names.withLock({ $0[key] }) { return known }
      let found = try find()
      names.withLock { names in
        if names.count >= Self.limit { names = Dictionary() }
        names[key] = found
      }
      return found
    }
  }

  /// The mapping for the contexts of a coordinator: a server creates a context for each request. It is replaced once a
  /// registration has changed the class of an entity.
  final class Current: Sendable {
    private let model: ManagedObjectModel
    /// The mapping, and the number of registrations that it takes into account.
    private let made = LockProtected<(mapping: Mapping, revision: Int)?>(nil)

    init(_ model: ManagedObjectModel) { self.model = model }

    var mapping: Mapping {
      let revision = ManagedObjectClasses.revision.load(ordering: .acquiring)
      let known = made.withLock { $0 }
      if let known, known.revision == revision { return known.mapping }
      let classes = ManagedObjectClasses.classes(of: model, given: Dictionary())
      let mapping =
        if let known, known.mapping.classes.elementsEqual(classes, by: ==) { known.mapping } else { Mapping(classes) }
      made.withLock { $0 = (mapping, revision) }
      return mapping
    }
  }

  /// Returns the class given for an entity, or else the model's, or else the registered class that the entity names.
  private static func ownClass(
    of entity: Entity, given: [String: ManagedObject.Type], of model: [String: AnyClass]
  ) -> ManagedObject.Type? {
    if let type = given[entity.name] ?? model[entity.name] as? ManagedObject.Type { return type }
    guard let name = entity.description.className else { return nil }
    let module = entity.description.moduleName.map { "\($0).\(name)" }
    return registered.withLock { names in module.flatMap { names[$0] } ?? names[shortened(name, names)] }
  }

  /// A model may name the class with a module that doesn't match, such as a leading dot for the current product's
  /// module.
  private static func shortened(_ name: String, _ names: [String: ManagedObject.Type]) -> String {
    if names[name] != nil { return name }
    return name.split(separator: ".").last.map(String.init) ?? name
  }
}

extension PersistentStoreCoordinator {
  /// The classes of the entities in contexts that are given none.
  var classes: ManagedObjectClasses.Mapping {
    let current = contextFacts.withLock { facts in
      if let known = facts as? ManagedObjectClasses.Current { return known }
      let current = ManagedObjectClasses.Current(managedObjectModel)
      facts = current
      return current
    }
    return current.mapping
  }
}
