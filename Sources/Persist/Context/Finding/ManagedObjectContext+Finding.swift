/// Finding, counting and deleting in one line, for entities by name.
extension ManagedObjectContext {
  /// Executes a request for its first result.
  ///
  /// ```swift
  /// let cheapest = try context.fetchFirst(FetchRequest("Item", sortedBy: "price"))
  /// ```
  ///
  /// - Returns: The result that ``fetch(_:)-(FetchRequest<Result>)`` would return first; nil if there is none.
  /// - Throws: The errors of fetching.
  public func fetchFirst<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> Result? {
    var request = request
    request.fetchLimit = 1
    return try fetch(request).first
  }

  /// Returns the first object, in the given order, with a value of an attribute.
  ///
  /// ```swift
  /// let tea = try context.findFirst("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// - Parameters:
  ///   - entityName: The name of an entity of the model.
  ///   - name: The name of the attribute.
  ///   - value: The value; nil finds an object without a value.
  ///   - order: The order, such as `"group:YES,price:NO,name"`.
  ///   - ascending: The direction of keys without an explicit one.
  public func findFirst(
    _ entityName: String, byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> ManagedObject? {
    try findFirst(
      entityName, matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending)
  }

  /// Returns the first object that matches a predicate; nil matches any object.
  public func findFirst(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> ManagedObject? {
    var request = findRequest(entityName, predicate, sortedBy: order, isAscending: ascending)
    request.fetchLimit = 1
    return try fetch(request).first
  }

  /// Returns the first object with a value of an attribute, or else a new object with that value.
  ///
  /// ```swift
  /// let tea = try context.findFirstOrCreate("Item", byAttribute: "name", with: "Tea")
  /// ```
  ///
  /// - Parameters:
  ///   - entityName: The name of an entity of the model.
  ///   - name: The name of the attribute.
  ///   - value: Any value that ``RedeclarableMembers/setValue(_:forKey:)`` accepts for the attribute; the search uses
  ///     the converted value. Nil finds an object without a value.
  /// - Throws: ``PersistenceError/Code/unknownEntity``, ``PersistenceError/Code/unknownProperty``,
  ///   ``PersistenceError/Code/typeMismatch``, and the errors of fetching.
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

  /// Returns every object with a value of an attribute.
  public func findAll(
    _ entityName: String, byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> [ManagedObject] {
    try findAll(entityName, matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending)
  }

  /// Returns every object that matches a predicate, in an order such as `"group:YES,price:NO,name"`.
  ///
  /// - Parameters:
  ///   - entityName: The name of an entity of the model.
  ///   - predicate: The condition for the objects; nil for all objects.
  ///   - order: The order; empty for none.
  ///   - ascending: The direction of keys without an explicit one.
  public func findAll(
    _ entityName: String, matching predicate: FetchPredicate? = nil, sortedBy order: String = "",
    ascending: Bool = true
  ) throws -> [ManagedObject] {
    try fetch(findRequest(entityName, predicate, sortedBy: order, isAscending: ascending))
  }

  /// Returns the number of objects that match a predicate.
  public func count(_ entityName: String, matching predicate: FetchPredicate? = nil) throws -> Int {
    try count(for: findRequest(entityName, predicate))
  }

  /// Deletes every object that matches a predicate, applying the delete rules of its relationships. The next save makes
  /// the deletion permanent.
  ///
  /// - Returns: The number of deleted objects.
  @discardableResult
  public func deleteAll(_ entityName: String, matching predicate: FetchPredicate? = nil) throws -> Int {
    let objects = try fetch(findRequest(entityName, predicate))
    for object in objects { delete(object) }
    return objects.count
  }

  @inline(never)
  func findRequest(
    _ entityName: String, _ predicate: FetchPredicate?, sortedBy order: String = "", isAscending ascending: Bool = true
  ) -> FetchRequest<ManagedObject> {
    var request = FetchRequest<ManagedObject>(entityName, sortedBy: .init(text: order, isAscending: ascending))
    request.predicate = predicate
    return request
  }
}

extension FetchPredicate {
  /// A predicate that an attribute has a value; nil for no value.
  static func attribute(_ name: String, equals value: (any FetchArgument)?) -> FetchPredicate {
    .compare(.key(name), .equal, .value(value))
  }
}
