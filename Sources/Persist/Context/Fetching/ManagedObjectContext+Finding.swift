/// Finding, counting and deleting in one line, for entities by name.
extension ManagedObjectContext {
  /// The first object with a value of an attribute; of several the first in the order.
  ///
  /// ```swift
  /// let tea = try context.findFirst("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// - Parameters:
  ///   - value: nil finds an object without a value.
  ///   - order: such as `"group:YES,price:NO,name"`.
  public func findFirst(
    _ entityName: String, byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> ManagedObject? {
    try findFirst(
      entityName, matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending)
  }

  /// The first object for which a predicate holds; nil for any.
  public func findFirst(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> ManagedObject? {
    var request = findRequest(entityName, predicate, order, ascending)
    request.fetchLimit = 1
    return try fetch(request).first
  }

  /// The first object with a value of an attribute; where there is none, a new one that has it.
  ///
  /// ```swift
  /// let tea = try context.findFirstOrCreate("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// - Parameter value: what ``ManagedObject/setValue(_:forKey:)`` takes for the attribute; it is looked for as the
  ///   value that it becomes. Nil finds an object without a value.
  /// - Throws: ``PersistenceError/Code/unknownEntity``, ``PersistenceError/Code/unknownProperty``,
  ///   ``PersistenceError/Code/typeMismatch``, and what fetching throws.
  @discardableResult
  public func findFirstOrCreate(
    _ entityName: String, byAttribute name: String, with value: Any?
  ) throws -> ManagedObject {
    let entity = try entity(named: entityName)
    guard let attribute = entity.property(named: name)?.attribute else {
      throw PersistenceError(
        .unknownProperty, at: .property(entityName, name), "'\(entityName)' has no attribute '\(name)'.",
        fix: "Its attributes are \(entity.attributes.map(\.name).sorted().joined(separator: ", ")).")
    }
    let wanted = try ValueConversion(attribute, at: .property(entityName, name)).stored(value)
    if let found = try findFirst(entityName, byAttribute: name, with: wanted) { return found }
    let object = try create(entityName)
    try object.setValue(wanted, forKey: name)
    return object
  }

  /// Every object with a value of an attribute.
  public func findAll(
    _ entityName: String, byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> [ManagedObject] {
    try findAll(entityName, matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending)
  }

  /// Every object for which a predicate holds, in an order such as `"group:YES,price:NO,name"`.
  ///
  /// - Parameter ascending: the direction of keys that don't say one.
  public func findAll(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> [ManagedObject] {
    try fetch(findRequest(entityName, predicate, order, ascending))
  }

  /// How many objects there are for which a predicate holds.
  public func count(_ entityName: String, matching predicate: FetchPredicate? = nil) throws -> Int {
    try count(for: findRequest(entityName, predicate, "", true))
  }

  /// Deletes every object for which a predicate holds, with the delete rules of its relationships. The next save makes
  /// it last.
  ///
  /// - Returns: how many there were.
  @discardableResult
  public func deleteAll(_ entityName: String, matching predicate: FetchPredicate? = nil) throws -> Int {
    let objects = try fetch(findRequest(entityName, predicate, "", true))
    for object in objects { delete(object) }
    return objects.count
  }

  func findRequest(
    _ entityName: String, _ predicate: FetchPredicate?, _ order: String, _ ascending: Bool
  ) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName, sortedBy: .init(text: order, isAscending: ascending))
    request.predicate = predicate
    return request
  }
}

extension FetchPredicate {
  /// Whether an attribute has a value; nil for none.
  static func attribute(_ name: String, equals value: (any FetchArgument)?) -> FetchPredicate {
    .compare(.key(name), .equal, .value(value))
  }
}
