/// Updates properties of all rows that match a predicate in one statement, without creating objects.
///
/// The versions of the rows are incremented, so that contexts that have them registered detect the change when they
/// save. The model's rules aren't checked, except that a required attribute can't be set to null; uniqueness
/// constraints are enforced.
///
/// A column of a file accepts numbers of any size, and null. Before the update, a further scan of the matching rows
/// therefore checks each integer attribute with a computed value, also one of type `int64`, and another scan each
/// required attribute with a computed value.
///
/// ```swift
/// let update = BatchUpdateRequest("Car", where: try FetchPredicate("maker == 'FIAT'"), set: [
///   "maker": .value("FCA"), "price": try FetchExpression("price * 1.1"),
/// ])
/// let count = try context.execute(update).count
/// ```
public struct BatchUpdateRequest: Sendable, Hashable {
  /// The name of the entity whose rows are updated, resolved when the request runs.
  public var entityName: String
  /// The rows to update; nil for all. Unsaved changes of contexts are ignored.
  public var predicate: FetchPredicate?
  /// The names of attributes, or of to-one relationships whose inverse isn't to-one, with their new values: constants,
  /// or expressions evaluated over the row before the update.
  public var propertiesToUpdate: [String: FetchExpression]
  /// Whether rows of subentities are updated too.
  public var includesSubentities = true
  /// Whether all rows are updated, regardless of the context's ``ManagedObjectContext/defaultFilters``.
  public var ignoresDefaultFilters = false
  /// The identifiers of the stores to update; nil for all of the context's.
  public var affectedStoreIdentifiers: [String]?
  /// The form of the result: status, number or identifiers of the changed rows. By default their number.
  public var resultType: BatchUpdateRequestResultType

  /// Creates an update of all rows of an entity and its subentities that match a predicate.
  ///
  /// - Parameters:
  ///   - entityName: The name of the entity.
  ///   - predicate: The rows to update; nil for all.
  ///   - properties: The new values by property name: constants, or expressions over the row before the update.
  ///   - resultType: The form of the result.
  public init(
    _ entityName: String, where predicate: FetchPredicate? = nil, set properties: [String: FetchExpression],
    resultType: BatchUpdateRequestResultType = .updatedObjectsCountResultType
  ) {
    self.entityName = entityName
    self.predicate = predicate
    propertiesToUpdate = properties
    self.resultType = resultType
  }

  /// Creates a request that updates nothing until its ``propertiesToUpdate`` are set, with the label of Core Data.
  ///
  /// ```swift
  /// var request = BatchUpdateRequest(entityName: "Item")
  /// request.propertiesToUpdate = ["onSale": .value(true)]
  /// ```
  public init(entityName: String) { self.init(entityName, set: Dictionary()) }
}

/// Deletes all rows that a request matches, without creating objects.
///
/// Delete rules apply as for objects: cascades delete further rows, nullified relationships are cleared, and a denied
/// deletion fails. The batch also fails if remaining rows require deleted ones. Hooks and validation methods of classes
/// aren't called. Pairs in join tables and files of large values are deleted too.
///
/// ```swift
/// let delete = BatchDeleteRequest(try FetchRequest("Car", where: "maker == 'FIAT'"), resultType: .resultTypeObjectIDs)
/// let gone = try context.execute(delete).changes.deletedObjectIDs
/// ```
public struct BatchDeleteRequest: Sendable, Hashable {
  /// The rows to delete: entity, predicate, order, limit, offset, identifiers and stores. Unsaved changes are ignored.
  public var entityName: String { rows.entityName }
  /// The form of the result: status, number or identifiers of the deleted rows. By default their number.
  public var resultType: BatchDeleteRequestResultType
  package let rows: FetchRequest<ManagedObjectID>

  /// Deletes the rows that a fetch request matches. The request's result type is ignored.
  public init<Result>(
    _ request: FetchRequest<Result>, resultType: BatchDeleteRequestResultType = .resultTypeCount
  ) {
    rows = request.returning(ManagedObjectID.self)
    self.resultType = resultType
  }

  /// Deletes all rows of an entity and its subentities that match a predicate.
  public init(
    _ entityName: String, where predicate: FetchPredicate? = nil,
    resultType: BatchDeleteRequestResultType = .resultTypeCount
  ) {
    var request = FetchRequest<ManagedObjectID>(entityName)
    request.predicate = predicate
    self.init(request, resultType: resultType)
  }

  /// Deletes the rows that a fetch request matches, with the label of Core Data.
  public init<Result>(fetchRequest: FetchRequest<Result>) { self.init(fetchRequest) }

  /// Deletes the rows with these identifiers, which are all of one entity, with the label of Core Data.
  public init(objectIDs: [ManagedObjectID]) { self.init(objectIDs.first?.entityName ?? "", objectIDs: objectIDs) }

  /// Deletes the rows with these identifiers, which belong to one entity hierarchy.
  public init(
    _ entityName: String, objectIDs: [ManagedObjectID], resultType: BatchDeleteRequestResultType = .resultTypeCount
  ) {
    self.init(FetchRequest<ManagedObjectID>(entityName, objectIDs: objectIDs), resultType: resultType)
  }
}
