/// The entities that a request depends on besides its own: the destinations of the relationships in its predicate,
/// order and sections.
package struct DependentEntities {
  private let model: ManagedObjectModel
  private let entity: Entity?
  /// Whether the predicate's dependencies can't be determined.
  private(set) var isUnknown = false
  private var numbers: Set<Int> = []
  private var bound: [String: Entity] = Dictionary()

  init(of entity: Entity, in model: ManagedObjectModel) {
    self.entity = entity
    self.model = model
  }

  private init(numbers: Set<Int>, in model: ManagedObjectModel) {
    (entity, self.numbers, self.model) = (nil, numbers, model)
  }

  private mutating func addItself() { if let entity { numbers.insert(entity.number) } }

  var isEmpty: Bool { !isUnknown && numbers.isEmpty }

  /// Whether results may depend on objects of an entity.
  func contains(_ layout: EntityLayout) -> Bool {
    isUnknown || numbers.contains { layout.isKind(ofEntityAt: $0 - 1) }
  }

  mutating func add(_ predicate: FetchPredicate) {
    predicate.forEachComparison { comparison in
      add(comparison.left)
      add(comparison.right)
    }
  }

  /// - Returns: The entity of the objects that the expression evaluates to, if it evaluates to objects.
  @discardableResult
  mutating func add(_ expression: FetchExpression) -> Entity? {
    switch expression {
    case .constant: return nil
    case .current: return entity
    case .variable(let name): return bound[name]
    case .path(let root, let keys):
      let start = add(root)
      if start == nil, root != .current { isUnknown = true }
      return follow(keys, from: start)
    case .element(let list, _): return add(list)
    case .aggregate(let parts), .function(_, let parts):
      for part in parts { add(part) }
      return nil
    case .subquery(let collection, let variable, let predicate):
      let members = add(collection)
      bound[variable] = members
      add(predicate)
      return members
    case .ternary(let predicate, let first, let second):
      add(predicate)
      add(first)
      return add(second)
    case .keyPath, .call, .fetch:
      isUnknown = true
      return nil
    }
  }

  /// Adds the entities along a path. A to-one relationship at the end of a path is a value of its owner and isn't
  /// added.
  private mutating func follow(_ keys: [String], from start: Entity?) -> Entity? {
    var entity = start
    for (index, key) in keys.enumerated() where CollectionOperator(rawValue: key) == nil {
      guard let relationship = entity?.relationship(named: key) else { continue }
      let destination = model.destination(of: relationship)
      if relationship.isToMany || index < keys.count - 1 { numbers.insert(destination.number) }
      entity = destination
    }
    return entity
  }
}

extension DependentEntities {
  /// The entities on which the results of a request depend, its own among them.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``; the error of a template's name.
  package init<Result>(of request: FetchRequest<Result>, in context: ManagedObjectContext) throws {
    let request = try context.named(request.returning(ManagedObject.self))
    self.init(of: try context.entity(named: request.entityName), in: context.model)
    addItself()
    for predicate in [request.predicate, request.havingPredicate].compactMap(\.self) { add(predicate) }
    for column in request.propertiesToFetch + request.propertiesToGroupBy { add(column.expression) }
    for descriptor in request.sortDescriptors { add(descriptor.expression) }
  }

  /// Some entities and their subentities.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``.
  package init(named names: [String], in context: ManagedObjectContext) throws {
    let entities = try names.map { try context.entity(named: $0) }
    self.init(numbers: Set(entities.map(\.number)), in: context.model)
  }
}
