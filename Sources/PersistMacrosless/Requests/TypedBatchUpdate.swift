public import Persist

/// A change of many rows that the compiler has checked; no objects are made.
///
/// ```swift
/// let update = Item.where(\.quantity < 5).setting(\.quantity, to: 5).setting(\.price) { $0.price * 2 }
/// try context.execute(update).count
/// ```
///
/// It begins with a request for the rows, and goes straight to the stores: see ``Persist/BatchUpdateRequest``.
public struct TypedBatchUpdate<Root: ManagedObject>: Sendable {
  /// The same by the properties' names.
  public var request: BatchUpdateRequest

  /// - Parameter rows: says which rows are changed, by its predicate and its stores. A limit would leave open which,
  ///   and stops the program.
  init(_ rows: FetchRequest<Root>) {
    precondition(
      rows.fetchLimit == 0 && rows.fetchOffset == 0 && rows.objectIDs == nil,
      "A batch update changes every row that its predicate holds for: say with the predicate which ones.")
    request = BatchUpdateRequest(rows.entityName, where: rows.predicate, set: [:])
    request.includesSubentities = rows.includesSubentities
    request.affectedStoreIdentifiers = rows.affectedStoreIdentifiers
  }

  /// Gives a property a value.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Root, Value> & Sendable, to value: Value
  ) -> TypedBatchUpdate {
    setting(keyPath, to: .constant(value.stored))
  }

  /// Gives a to-one relationship another end, or none; its inverse mustn't be to-one.
  public func setting<Object: ManagedObject>(
    _ keyPath: any KeyPath<Root, Object?> & Sendable, to object: Object?
  ) -> TypedBatchUpdate {
    setting(keyPath, to: .value(object))
  }

  /// Gives a property what is computed of the row as it was.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Root, Value> & Sendable,
    to value: (TypedExpression<Root, Root>) -> TypedExpression<Root, Value>
  ) -> TypedBatchUpdate {
    setting(keyPath, to: value(TypedExpression(.current)).expression)
  }

  /// Gives a property that may have no value what is computed of the row as it was.
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

/// Batch updates that begin with a request.
extension FetchRequest where Result: ManagedObject {
  /// A batch update that gives a property a value in every row that this request asks for.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Result, Value> & Sendable, to value: Value
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: value)
  }

  /// A batch update that gives a to-one relationship another end, or none.
  public func setting<Object: ManagedObject>(
    _ keyPath: any KeyPath<Result, Object?> & Sendable, to object: Object?
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: object)
  }

  /// A batch update that gives a property what is computed of each row.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Result, Value> & Sendable,
    to value: (TypedExpression<Result, Result>) -> TypedExpression<Result, Value>
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: value)
  }

  /// A batch update that gives a property that may have no value what is computed of each row.
  public func setting<Value: StorableValue>(
    _ keyPath: any KeyPath<Result, Value?> & Sendable,
    to value: (TypedExpression<Result, Result>) -> TypedExpression<Result, Value>
  ) -> TypedBatchUpdate<Result> {
    TypedBatchUpdate(self).setting(keyPath, to: value)
  }
}

extension ManagedObjectContext {
  /// Changes rows without making objects.
  ///
  /// - Throws: what ``Persist/ManagedObjectContext/execute(_:)`` throws for a batch update.
  @discardableResult
  public func execute<Root>(_ update: TypedBatchUpdate<Root>) throws -> BatchUpdateResult {
    try execute(update.request)
  }
}
