public import Persist

/// Requests that begin at a class.
///
/// ```swift
/// let cheap = try context.fetch(Item.where(\.quantity < 5).sorted(by: \.name))
/// let everything = try Item.fetch(in: context)
/// let count = try Item.count(where: \.category?.name == "Tea", in: context)
/// ```
extension FindableObject where Self: ManagedObject {
  /// Asks for all objects of the class's entity and its subentities.
  public static var all: FetchRequest<Self> {
    let generated = (Self.self as? any GeneratedObject.Type)?.entityName
    return FetchRequest<Self>(generated ?? ownTraits?.name ?? String(describing: Self.self))
  }

  /// Asks for the objects for which a predicate holds.
  public static func `where`(_ predicate: TypedPredicate<Self>) -> FetchRequest<Self> { all.where(predicate) }

  /// Asks for the objects for which a condition holds, which is about what stands for the object.
  ///
  /// ```swift
  /// Category.where { $0.items.contains { $0.quantity < 5 } && $0.name.beginsWith("T") }
  /// ```
  public static func `where`(
    _ condition: (TypedExpression<Self, Self>) -> TypedPredicate<Self>
  ) -> FetchRequest<Self> {
    all.where(TypedPredicate(condition))
  }

  /// Asks for the objects of which a truth value is true.
  public static func `where`(_ keyPath: any KeyPath<Self, Bool> & Sendable) -> FetchRequest<Self> {
    all.where(TypedPredicate(keyPath))
  }

  /// Asks for the objects for which a predicate in the format language holds.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate`` with the column and what was expected there.
  public static func `where`(_ format: String, _ arguments: (any FetchArgument)?...) throws -> FetchRequest<Self> {
    var request = all
    request.predicate = try FetchPredicate(format, arguments: arguments)
    return request
  }

  /// Asks for all objects, in an order.
  public static func sorted(
    by keyPath: any PartialKeyPath<Self> & Sendable, ascending: Bool = true,
    comparison: FetchSortDescriptor.Comparison = .values
  ) -> FetchRequest<Self> {
    all.sorted(by: keyPath, ascending: ascending, comparison: comparison)
  }

  /// All objects of the class's entity and its subentities.
  public static func fetch(in context: ManagedObjectContext) throws -> [Self] { try context.fetch(all) }

  /// The objects for which a predicate holds.
  public static func fetch(where predicate: TypedPredicate<Self>, in context: ManagedObjectContext) throws -> [Self] {
    try context.fetch(all.where(predicate))
  }

  /// For how many objects a predicate holds.
  public static func count(where predicate: TypedPredicate<Self>, in context: ManagedObjectContext) throws -> Int {
    try context.count(for: all.where(predicate))
  }
}

extension ManagedObjectContext {
  /// All objects of a class's entity and its subentities.
  public func fetch<Object: ManagedObject>(_ type: Object.Type) throws -> [Object] { try fetch(type.all) }
}
