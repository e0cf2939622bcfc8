/// A class that was generated for an entity, or inherits from one that was.
///
/// `persist generate` adds the conformance to the topmost generated class of each inheritance chain.
public protocol GeneratedObject: ManagedObject {
  /// All classes that were generated together with this one.
  static var generatedClasses: GeneratedClasses { get }
}

extension GeneratedObject {
  /// Returns a request for the objects of the class's entity and its subentities.
  ///
  /// ```swift
  /// var request = Item.fetchRequest()
  /// request.predicate = try FetchPredicate("quantity < %@", 5)
  /// let items = try context.fetch(request)                        // [Item]
  /// ```
  public static func fetchRequest() -> FetchRequest<Self> { FetchRequest<Self>(entityName) }

  /// The name of the entity that the class was generated for.
  public static var entityName: String {
    GeneratedClasses.list(of: self)?.member.entity ?? String(describing: self)
  }
}
