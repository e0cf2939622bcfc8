public import Foundation
public import Persist

/// Methods that derive a request from another, checked by the compiler.
extension FetchRequest where Result: ManagedObject {
  /// Restricts the request to objects for which a predicate also holds.
  public func `where`(_ predicate: TypedPredicate<Result>) -> FetchRequest { self.where(predicate.predicate) }

  /// Restricts the request to objects for which a predicate also holds that was built or parsed elsewhere.
  public func `where`(_ predicate: FetchPredicate) -> FetchRequest {
    var request = self
    request.predicate = request.predicate.map { $0 && predicate } ?? predicate
    return request
  }

  /// Restricts the request to objects for which one of Foundation's predicates also holds.
  ///
  /// - Throws: `PersistenceError.Code.invalidPredicate` with the part that no store understands.
  public func `where`(_ predicate: Foundation.Predicate<Result>) throws -> FetchRequest {
    self.where(try FetchPredicate(predicate))
  }

  /// Restricts the request to objects for which a condition also holds.
  public func `where`(_ condition: (TypedExpression<Result, Result>) -> TypedPredicate<Result>) -> FetchRequest {
    self.where(TypedPredicate(condition))
  }

  /// Sorts objects that are equal in the previous sort orders by a property.
  ///
  /// ```swift
  /// Item.sorted(by: \.category?.position).sorted(by: \.name)      // by position, and by name within one
  /// ```
  public func sorted(
    by keyPath: any PartialKeyPath<Result> & Sendable, ascending: Bool = true,
    comparison: FetchSortDescriptor.Comparison = .values
  ) -> FetchRequest {
    var request = self
    request.sortDescriptors.append(
      FetchSortDescriptor(PropertyPath.text(keyPath), isAscending: ascending, comparison: comparison))
    return request
  }

  /// Limits the number of objects, skipping some at the beginning.
  public func limited(to limit: Int, offset: Int = 0) -> FetchRequest {
    var request = self
    request.fetchLimit = limit
    request.fetchOffset = offset
    return request
  }

  /// Prefetches the objects at the other ends of relationships.
  public func prefetching(_ keyPaths: any PartialKeyPath<Result> & Sendable...) -> FetchRequest {
    var request = self
    request.relationshipKeyPathsForPrefetching += keyPaths.map { PropertyPath.text($0) }
    return request
  }

  /// Requests rows with the values of some properties instead of objects.
  public func rows(of keyPaths: any PartialKeyPath<Result> & Sendable...) -> FetchRequest<FetchedRow> {
    var request = returning(FetchedRow.self)
    request.propertiesToFetch = keyPaths.map { ExpressionDescription(PropertyPath.text($0)) }
    return request
  }

  /// Requests a row for each combination of values of some properties, with columns computed for each group.
  ///
  /// ```swift
  /// let totals = try context.fetch(
  ///   Item.all.grouped(
  ///     by: \.category, computing: .sum(of: \Item.quantity, as: "total"), .count(as: "items")))
  /// ```
  public func grouped(
    by keyPaths: any PartialKeyPath<Result> & Sendable..., computing columns: ExpressionDescription...
  ) -> FetchRequest<FetchedRow> {
    var request = returning(FetchedRow.self)
    request.propertiesToGroupBy = keyPaths.map { ExpressionDescription(PropertyPath.text($0)) }
    request.propertiesToFetch = request.propertiesToGroupBy + columns
    return request
  }
}

extension RelationshipSet {
  /// The members for which a predicate holds.
  ///
  /// ```swift
  /// let cheap = category.items.filter(\.price < 5)
  /// ```
  ///
  /// - Throws: an error if the predicate can't be evaluated.
  public func filter(_ predicate: TypedPredicate<Element>) throws -> [Element] {
    try filter { try predicate.evaluate(with: $0) }
  }
}

extension OrderedRelationshipSet {
  /// The members for which a predicate holds, in order.
  ///
  /// - Throws: an error if the predicate can't be evaluated.
  public func filter(_ predicate: TypedPredicate<Element>) throws -> [Element] { try members.filter(predicate) }
}
