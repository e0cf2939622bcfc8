/// Making, finding, counting and deleting in one line, for the entity that a class serves.
///
/// ```swift
/// let tea = Item.create(in: context)
/// let first = try Item.findFirst(byAttribute: "name", with: "Tea", in: context)
/// let cheap = try Item.findAll(matching: FetchPredicate("price < 5"), sortedBy: "price:NO,name", in: context)
/// try Item.deleteAll(matching: FetchPredicate("price > 100"), in: context)
/// ```
///
/// ``ManagedObject`` and its subclasses have all of it; nothing else conforms. A protocol, because a class can't give a
/// list of its own subclass.
public protocol FindableObject {}

extension ManagedObject: FindableObject {}

extension FindableObject where Self: ManagedObject {
  /// A new object of the entity that this class serves.
  @discardableResult
  public static func create(in context: ManagedObjectContext) -> Self {
    Self(ManagedObject.Origin(inserting: Self.self, into: context))
  }

  /// The first object with a value of an attribute, nil for none; of several the first in the order.
  public static func findFirst(
    byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> Self? {
    try findFirst(matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending, in: context)
  }

  /// The first object with a value of an attribute; where there is none, a new one that has it. See
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

  /// The first object for which a predicate holds; nil for any.
  public static func findFirst(
    matching predicate: FetchPredicate? = nil, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> Self? {
    var request = findRequest(predicate, order, ascending, context)
    request.fetchLimit = 1
    return try context.fetch(Self.self, request).first
  }

  /// Every object with a value of an attribute.
  public static func findAll(
    byAttribute name: String, with value: (any FetchArgument)?, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> [Self] {
    try findAll(matching: .attribute(name, equals: value), sortedBy: order, ascending: ascending, in: context)
  }

  /// Every object for which a predicate holds, in an order such as `"group:YES,price:NO,name"`.
  public static func findAll(
    matching predicate: FetchPredicate? = nil, sortedBy order: String = "", ascending: Bool = true,
    in context: ManagedObjectContext
  ) throws -> [Self] {
    try context.fetch(Self.self, findRequest(predicate, order, ascending, context))
  }

  /// How many objects there are for which a predicate holds.
  public static func count(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext
  ) throws -> Int {
    try context.count(context.findEntity(servedBy: Self.self).name, matching: predicate)
  }

  /// Deletes every object for which a predicate holds; see ``ManagedObjectContext/deleteAll(_:matching:)``.
  @discardableResult
  public static func deleteAll(
    matching predicate: FetchPredicate? = nil, in context: ManagedObjectContext
  ) throws -> Int {
    try context.deleteAll(context.findEntity(servedBy: Self.self).name, matching: predicate)
  }

  private static func findRequest(
    _ predicate: FetchPredicate?, _ order: String, _ ascending: Bool, _ context: ManagedObjectContext
  ) -> FetchRequest<ManagedObject> {
    context.findRequest(context.findEntity(servedBy: Self.self).name, predicate, order, ascending)
  }
}
