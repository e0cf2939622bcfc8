/// Creating, finding, counting and deleting in one line, for a class's entity.
///
/// ```swift
/// let tea = Item.create(in: context)
/// let first = try Item.findFirst(byAttribute: "name", with: "Tea", in: context)
/// let cheap = try Item.findAll(matching: FetchPredicate("price < 5"), sortedBy: "price:NO,name", in: context)
/// try Item.deleteAll(matching: FetchPredicate("price > 100"), in: context)
/// ```
///
/// Only ``ManagedObject`` and its subclasses conform. A protocol, because a class can't return an array of its own
/// subclass.
public protocol FindableObject {}

extension ManagedObject: FindableObject {}

extension FindableObject where Self: ManagedObject {
  /// Inserts a new object of this class's entity.
  @discardableResult
  public static func create(in context: ManagedObjectContext) -> Self {
    Self(ManagedObject.Origin(inserting: Self.self, into: context))
  }

  /// Returns the first object, in the given order, with a value of an attribute; nil if there is none.
  public static func findFirst(
    byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> Self? {
    try findFirst(matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending, in: context)
  }

  /// Returns the first object with a value of an attribute, or else a new object with that value. See
  /// ``ManagedObjectContext/findFirstOrCreate(_:byAttribute:with:)``.
  @discardableResult
  public static func findFirstOrCreate(
    byAttribute name: String, with value: Any?, in context: ManagedObjectContext
  ) throws -> Self {
    let entity = context.findEntity(servedBy: Self.self)
    let object = try context.findFirstOrCreate(entity.name, byAttribute: name, with: value)
    guard let found = object as? Self else {
      throw PersistenceError(
        .typeMismatch, at: .entity(entity.name), "\(object) is of class \(type(of: object)), not \(Self.self).",
        fix: "Register the class for the entity.")
    }
    return found
  }

  /// Returns the first object that matches a predicate; nil matches any object.
  public static func findFirst(
    matching predicate: FetchPredicate? = nil, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> Self? {
    var request = findRequest(predicate, sortedBy: order, isAscending: ascending, in: context)
    request.fetchLimit = 1
    return try context.fetch(Self.self, request).first
  }

  /// Returns every object with a value of an attribute.
  public static func findAll(
    byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> [Self] {
    try findAll(matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending, in: context)
  }

  /// Returns every object that matches a predicate, in an order such as `"group:YES,price:NO,name"`.
  public static func findAll(
    matching predicate: FetchPredicate? = nil, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> [Self] {
    try context.fetch(Self.self, findRequest(predicate, sortedBy: order, isAscending: ascending, in: context))
  }

  /// Returns the number of objects that match a predicate.
  public static func count(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext
  ) throws -> Int {
    try context.count(context.findEntity(servedBy: Self.self).name, matching: predicate)
  }

  /// Deletes every object that matches a predicate; see ``ManagedObjectContext/deleteAll(_:matching:)``.
  @discardableResult
  public static func deleteAll(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext
  ) throws -> Int {
    try context.deleteAll(context.findEntity(servedBy: Self.self).name, matching: predicate)
  }

  private static func findRequest(
    _ predicate: FetchPredicate?, sortedBy order: String, isAscending ascending: Bool, in context: ManagedObjectContext
  ) -> FetchRequest<ManagedObject> {
    context.findRequest(
      context.findEntity(servedBy: Self.self).name, predicate, sortedBy: order, isAscending: ascending)
  }
}
