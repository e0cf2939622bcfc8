/// Changes properties of all rows that a predicate holds for, without objects being made: one statement.
///
/// Versions of the rows go up, so that contexts which hold them notice when they save. Rules of the model aren't
/// checked, except that a required attribute can't be emptied; unique values are.
///
/// ```swift
/// let update = BatchUpdateRequest("Car", where: try FetchPredicate("maker == 'FIAT'"), set: [
///   "maker": .value("FCA"), "price": try FetchExpression("price * 1.1"),
/// ])
/// let count = try context.execute(update).count
/// ```
public struct BatchUpdateRequest: Sendable, Hashable {
  public var entityName: String
  /// Which rows; nil for all. Unsaved changes of contexts don't count.
  public var predicate: FetchPredicate?
  /// Names of attributes, or of to-one relationships whose inverse isn't to-one, with what they get: values, or
  /// expressions over the row as it was.
  public var propertiesToUpdate: [String: FetchExpression]
  public var includesSubentities = true
  /// The identifiers of the stores that are changed; nil for all of the context's.
  public var affectedStoreIdentifiers: [String]?
  public var resultType: BatchUpdateRequestResultType

  public init(
    _ entityName: String, where predicate: FetchPredicate? = nil, set properties: [String: FetchExpression],
    resultType: BatchUpdateRequestResultType = .updatedObjectsCountResultType
  ) {
    self.entityName = entityName
    self.predicate = predicate
    propertiesToUpdate = properties
    self.resultType = resultType
  }
}

/// Deletes all rows that a request asks for, without objects being made.
///
/// Delete rules are carried out as for objects: cascades delete further rows, nullified relationships lose them, and a
/// denied deletion fails. The batch also fails where rows that stay can't do without rows that go. Hooks and validation
/// of classes aren't called. Pairs in join tables and files of large values go too.
///
/// ```swift
/// let delete = BatchDeleteRequest(try FetchRequest("Car", where: "maker == 'FIAT'"), resultType: .resultTypeObjectIDs)
/// let gone = try context.execute(delete).changes.deletedObjectIDs
/// ```
public struct BatchDeleteRequest: Sendable, Hashable {
  /// Which rows: its entity, predicate, order, limit, offset, identifiers and stores. Unsaved changes don't count.
  public var entityName: String { rows.entityName }
  public var resultType: BatchDeleteRequestResultType
  let rows: FetchRequest<ManagedObjectID>

  public init<Result>(
    _ request: FetchRequest<Result>, resultType: BatchDeleteRequestResultType = .resultTypeCount
  ) {
    rows = request.returning(ManagedObjectID.self)
    self.resultType = resultType
  }

  /// Deletes all rows of an entity and its subentities for which a predicate holds.
  public init(
    _ entityName: String, where predicate: FetchPredicate? = nil,
    resultType: BatchDeleteRequestResultType = .resultTypeCount
  ) {
    var request = FetchRequest<ManagedObjectID>(entityName)
    request.predicate = predicate
    self.init(request, resultType: resultType)
  }

  /// Deletes the rows with these identifiers, of one hierarchy of entities.
  public init(
    _ entityName: String, objectIDs: [ManagedObjectID], resultType: BatchDeleteRequestResultType = .resultTypeCount
  ) {
    self.init(FetchRequest<ManagedObjectID>(entityName, objectIDs: objectIDs), resultType: resultType)
  }
}
