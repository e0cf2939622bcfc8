public import Persist

/// A change of many rows, checked by the compiler; it materializes no objects.
///
/// ```swift
/// let update = Item.where(\.quantity < 5).setting(\.quantity, to: 5).setting(\.price) { $0.price * 2 }
/// try context.execute(update).count
/// ```
///
/// It starts from a request for the rows and is executed directly in the stores: see `BatchUpdateRequest`.
public struct TypedBatchUpdate<Root: ManagedObject>: Sendable {
  /// The untyped request, with property names.
  public var request: BatchUpdateRequest

  /// - Parameter rows: determines the changed rows by its predicate and stores. It mustn't have a limit, an offset or
  ///   object identifiers; they trap, because a batch update changes every row that matches the predicate.
  init(_ rows: FetchRequest<Root>) {
    precondition(
      rows.fetchLimit == 0 && rows.fetchOffset == 0 && rows.objectIDs == nil,
      "A batch update changes every row that matches its predicate: select the rows with the predicate.")
    request = BatchUpdateRequest(rows.entityName, where: rows.predicate, set: [:])
    request.includesSubentities = rows.includesSubentities
    request.affectedStoreIdentifiers = rows.affectedStoreIdentifiers
  }

  /// Sets a property to a value.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Root, Value> & Sendable, to value: Value
  ) -> TypedBatchUpdate {
    setting(keyPath, to: .constant(value.stored))
  }

  /// Sets a to-one relationship to an object or nil; its inverse mustn't be to-one.
  public func setting<Object: ManagedObject>(
    _ keyPath: any KeyPath<Root, Object?> & Sendable, to object: Object?
  ) -> TypedBatchUpdate {
    setting(keyPath, to: .value(object))
  }

  /// Sets a property to an expression over the row's previous values.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Root, Value> & Sendable,
    to value: (TypedExpression<Root, Root>) -> TypedExpression<Root, Value>
  ) -> TypedBatchUpdate {
    setting(keyPath, to: value(TypedExpression(.current)).expression)
  }

  /// Sets an optional property to an expression over the row's previous values.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Root, Value?> & Sendable,
    to value: (TypedExpression<Root, Root>) -> TypedExpression<Root, Value>
  ) -> TypedBatchUpdate {
    setting(keyPath, to: value(TypedExpression(.current)).expression)
  }

  private func setting(
    _ keyPath: any PartialKeyPath<Root> & Sendable, to expression: FetchExpression
  ) -> TypedBatchUpdate {
    var update = self
    update.request.propertiesToUpdate[PropertyPath.text(keyPath)] = expression
    return update
  }
}

/// Batch updates that start from a request.
extension FetchRequest where Result: ManagedObject {
  /// A batch update that sets a property to a value in every row of this request.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Result, Value> & Sendable, to value: Value
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: value)
  }

  /// A batch update that sets a to-one relationship to an object or nil.
  public func setting<Object: ManagedObject>(
    _ keyPath: any KeyPath<Result, Object?> & Sendable, to object: Object?
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: object)
  }

  /// A batch update that sets a property to an expression over each row.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Result, Value> & Sendable,
    to value: (TypedExpression<Result, Result>) -> TypedExpression<Result, Value>
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: value)
  }

  /// A batch update that sets an optional property to an expression over each row.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Result, Value?> & Sendable,
    to value: (TypedExpression<Result, Result>) -> TypedExpression<Result, Value>
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: value)
  }
}

extension ManagedObjectContext {
  /// Changes rows without materializing objects.
  ///
  /// - Throws: the errors of `ManagedObjectContext.execute(_:)` for a batch update.
  @discardableResult
  public func execute<Root>(_ update: TypedBatchUpdate<Root>) throws -> BatchUpdateResult {
    try execute(update.request)
  }
}
