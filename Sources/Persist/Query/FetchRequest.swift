/// Which objects a context fetches: of which entity, in which order, how many.
///
/// ```swift
/// var request = FetchRequest("Item", sortedBy: [.init("name"), .init("quantity", isAscending: false)])
/// request.predicate = try FetchPredicate("quantity > %@ AND category.name ==[c] %@", 5, "tea")
/// request.fetchLimit = 20
/// let items = try context.fetch(request)
/// ```
public struct FetchRequest: Sendable, Hashable {
  /// One level of an order: an attribute and a direction.
  ///
  /// No value comes before every value. Texts are compared by their UTF-8 bytes, as SQLite does.
  public struct SortDescriptor: Sendable, Hashable {
    /// The attribute's name.
    public var key: String
    public var isAscending: Bool

    public init(_ key: String, isAscending: Bool = true) {
      self.key = key
      self.isAscending = isAscending
    }
  }

  public var entityName: String
  /// Which objects; nil for all.
  ///
  /// It is asked of objects with unsaved changes as they are now, and of all others as they are saved: what it says of
  /// related objects is then what is saved of those.
  public var predicate: FetchPredicate?
  /// The order of the results; objects that are equal in it, or all without it, come by store and key.
  public var sortDescriptors: [SortDescriptor]
  /// The greatest number of results; 0 for all.
  public var fetchLimit: Int
  /// How many results are left out at the beginning.
  public var fetchOffset: Int
  /// Whether objects of subentities are results too.
  public var includesSubentities: Bool
  /// Whether the context's unsaved changes count.
  public var includesPendingChanges: Bool
  /// Whether the rows' values are read at once; without them each result costs a read of its own when it is first used.
  public var includesPropertyValues: Bool
  /// Whether results stay faults until they are first used.
  public var returnsObjectsAsFaults: Bool
  /// Only objects with these identifiers; nil for all.
  public var objectIDs: [ManagedObjectID]?

  public init(
    _ entityName: String, sortedBy sortDescriptors: [SortDescriptor] = [], limit: Int = 0, offset: Int = 0,
    objectIDs: [ManagedObjectID]? = nil
  ) {
    self.entityName = entityName
    self.sortDescriptors = sortDescriptors
    fetchLimit = limit
    fetchOffset = offset
    includesSubentities = true
    includesPendingChanges = true
    includesPropertyValues = true
    returnsObjectsAsFaults = true
    self.objectIDs = objectIDs
  }

  /// The objects of an entity and its subentities for which a predicate holds.
  ///
  /// ```swift
  /// let cheap = try context.fetch(FetchRequest("Item", where: "quantity < %@", 5))
  /// ```
  ///
  /// - Parameters:
  ///   - format: a predicate in the format language; see ``FetchPredicate``.
  ///   - arguments: what its placeholders stand for.
  /// - Throws: ``PersistError/Code/invalidPredicate`` with the column and what was expected there.
  public init(
    _ entityName: String, where format: String, _ arguments: (any FetchArgument)?...,
    sortedBy sortDescriptors: [SortDescriptor] = [], limit: Int = 0, offset: Int = 0
  ) throws {
    self.init(entityName, sortedBy: sortDescriptors, limit: limit, offset: offset)
    predicate = try FetchPredicate(format, arguments: arguments)
  }

  /// Every object of an entity and its subentities, in order of one attribute.
  public init(_ entityName: String, sortedBy key: String, isAscending: Bool = true) {
    self.init(entityName, sortedBy: [SortDescriptor(key, isAscending: isAscending)])
  }
}
