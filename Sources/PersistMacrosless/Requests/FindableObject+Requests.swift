public import Foundation
public import Persist

/// Requests that start from a class.
///
/// ```swift
/// let cheap = try context.fetch(Item.where(\.quantity < 5).sorted(by: \.name))
/// let everything = try Item.fetch(in: context)
/// let count = try Item.count(where: \.category?.name == "Tea", in: context)
/// ```
extension FindableObject where Self: ManagedObject {
  /// Requests all objects of the class's entity and its subentities.
  public static var all: FetchRequest<Self> {
    let generated = (Self.self as? any GeneratedObject.Type)?.entityName
    return FetchRequest<Self>(generated ?? ownTraits?.name ?? String(describing: Self.self))
  }

  /// Requests the objects for which a predicate holds.
  public static func `where`(_ predicate: TypedPredicate<Self>) -> FetchRequest<Self> { all.where(predicate) }

  /// Requests the objects for which a condition holds; the closure is passed an expression for the object.
  ///
  /// ```swift
  /// Category.where { $0.items.contains { $0.quantity < 5 } && $0.name.beginsWith("T") }
  /// ```
  public static func `where`(
    _ condition: (TypedExpression<Self, Self>) -> TypedPredicate<Self>
  ) -> FetchRequest<Self> {
    all.where(TypedPredicate(condition))
  }

  /// Requests the objects whose Boolean property is true.
  public static func `where`(_ keyPath: any KeyPath<Self, Bool> & Sendable) -> FetchRequest<Self> {
    all.where(TypedPredicate(keyPath))
  }

  /// Requests the objects for which a predicate in the format language holds.
  ///
  /// - Throws: `PersistenceError.Code.invalidPredicate` with the column of the error and what was expected there.
  public static func `where`(_ format: String, _ arguments: (any FetchArgument)?...) throws -> FetchRequest<Self> {
    var request = all
    request.predicate = try FetchPredicate(format, arguments: arguments)
    return request
  }

  /// Requests the objects for which a predicate holds that was built or parsed elsewhere.
  public static func `where`(_ predicate: FetchPredicate) -> FetchRequest<Self> { all.where(predicate) }

  /// Requests the objects for which one of Foundation's predicates holds.
  ///
  /// ```swift
  /// let cheap = try context.fetch(Item.where(#Predicate { $0.quantity < 5 }))
  /// ```
  ///
  /// - Throws: `PersistenceError.Code.invalidPredicate` with the part that no store understands.
  public static func `where`(_ predicate: Foundation.Predicate<Self>) throws -> FetchRequest<Self> {
    try all.where(predicate)
  }

  /// Requests all objects, sorted by a property.
  public static func sorted(
    by keyPath: any PartialKeyPath<Self> & Sendable, ascending: Bool = true,
    comparison: FetchSortDescriptor.Comparison = .values
  ) -> FetchRequest<Self> {
    all.sorted(by: keyPath, ascending: ascending, comparison: comparison)
  }

  /// Fetches all objects of the class's entity and its subentities.
  public static func fetch(in context: ManagedObjectContext) throws -> [Self] { try context.fetch(all) }

  /// Fetches the objects for which a predicate holds.
  public static func fetch(where predicate: TypedPredicate<Self>, in context: ManagedObjectContext) throws -> [Self] {
    try context.fetch(all.where(predicate))
  }

  /// Fetches the first object for which a predicate holds, in no particular order; nil if there is none.
  ///
  /// To choose by an order, pass a sorted request to ``Persist/ManagedObjectContext/fetchFirst(_:)``.
  public static func fetchFirst(
    where predicate: TypedPredicate<Self>, in context: ManagedObjectContext
  ) throws -> Self? {
    try context.fetchFirst(all.where(predicate))
  }

  /// Counts the objects for which a predicate holds.
  public static func count(where predicate: TypedPredicate<Self>, in context: ManagedObjectContext) throws -> Int {
    try context.count(for: all.where(predicate))
  }
}

extension ManagedObjectContext {
  /// Fetches all objects of a class's entity and its subentities.
  public func fetch<Object: ManagedObject>(_ type: Object.Type) throws -> [Object] { try fetch(type.all) }
}
