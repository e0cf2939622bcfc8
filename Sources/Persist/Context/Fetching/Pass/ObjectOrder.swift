import Foundation

/// A sort order of objects by their values, equal to SQLite's order of their rows.
package struct ObjectOrder {
  private struct Level {
    enum Source {
      /// The slot of the object's own attribute.
      case slot(Int)
      case path(FetchExpression, ExpressionEvaluator)
      /// The rank by the store's index. Objects changed since then sort last.
      case relevance
    }

    let source: Source
    let comparison: FetchSortDescriptor.Comparison
    let isAscending: Bool
  }

  private let levels: [Level]

  /// - Throws: ``PersistenceError/Code/unknownProperty`` if a key doesn't resolve to a stored, sortable value.
  package init(_ descriptors: [FetchSortDescriptor], of layout: EntityLayout, in model: ManagedObjectModel) throws {
    levels = try descriptors.map { descriptor in
      try SortCheck.check(descriptor, of: layout.entity, in: model)
      let isByRelevance = descriptor.textQuery != nil
      let own = layout.entity.slot(named: descriptor.key)
      return Level(
        source: isByRelevance
          ? .relevance : own.map(Level.Source.slot) ?? .path(descriptor.expression, ExpressionEvaluator()),
        comparison: descriptor.comparison, isAscending: descriptor.isAscending || isByRelevance)
    }
  }

  package var isEmpty: Bool { levels.isEmpty }

  func sorted(_ objects: [ManagedObject]) -> [ManagedObject] { sorted(objects, as: objects) }

  /// - Parameter views: The same objects, possibly in another context, with the values to sort by.
  func sorted(_ objects: [ManagedObject], as views: [ManagedObject]) -> [ManagedObject] {
    guard !isEmpty, objects.count > 1 else { return objects }
    // Each object's values are evaluated once, because a path may be long.
    let entries = zip(objects, views).map { (object: $0, view: $1, values: values(of: $1)) }
    return entries.sorted { left, right in
      let order = compare(left.values, right.values)
      return order == 0 ? Self.precedes(left.view, right.view) : order < 0
    }.map(\.object)
  }

  /// Whether `left` comes before `right`; equal objects are ordered by ``Tiebreaker``.
  func isAscending(_ left: ManagedObject, _ right: ManagedObject) -> Bool {
    for level in levels {
      let order = Self.compare(value(of: left, at: level), value(of: right, at: level), level.comparison)
      if order != 0 { return (order < 0) == level.isAscending }
    }
    return Self.precedes(left, right)
  }

  /// Whether `left` comes before `right` if their values are equal.
  private static func precedes(_ left: ManagedObject, _ right: ManagedObject) -> Bool {
    if left.table === right.table, left.key > 0, right.key > 0 { return left.key < right.key }
    return Tiebreaker(left) < Tiebreaker(right)
  }

  /// The sort values of an object, for ``compare(_:_:)``.
  package func values(of object: ManagedObject) -> [StoredValue] { levels.map { value(of: object, at: $0) } }

  /// Returns a negative number if the first object comes first, 0 if they are equal.
  package func compare(_ left: [StoredValue], _ right: [StoredValue]) -> Int {
    for (index, level) in levels.enumerated() {
      let order = Self.compare(left[index], right[index], level.comparison)
      if order != 0 { return level.isAscending ? order : -order }
    }
    return 0
  }

  private func value(of object: ManagedObject, at level: Level) -> StoredValue {
    switch level.source {
    case .relevance: return .boolean(object.change != .none)
    case .slot(let slot): return object.presentValue(at: slot)
    case .path(let path, let evaluator):
      do {
        return try evaluator.value(of: path, for: .object(object)).stored ?? .null
      } catch {
        object.table?.context.deferError(error)
        return .null
      }
    }
  }

  /// Returns a negative number if `left` comes first, 0 if they are equal. Null comes first.
  static func compare(
    _ left: StoredValue, _ right: StoredValue, _ comparison: FetchSortDescriptor.Comparison = .values
  ) -> Int {
    switch (left, right) {
    case (.null, .null): 0
    case (.null, _): -1
    case (_, .null): 1
    case (.integer(let left), .integer(let right)): sign(left, right)
    case (.boolean(let left), .boolean(let right)): sign(left ? 1 : 0, right ? 1 : 0)
    case (.double(let left), .double(let right)): sign(left, right)
    case (.decimal(let left), .decimal(let right)): sign(left, right)
    case (.date(let left), .date(let right)): sign(left, right)
    case (.string(let left), .string(let right)), (.uri(let left), .uri(let right)):
      sign(comparison.order(left, right))
    case (.data(let left), .data(let right)):
      left == right ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
    case (.uuid(let left), .uuid(let right)):
      compare(
        .data(left.data), .data(right.data))
    // Computed columns contain numbers of different kinds.
    default: left.order(to: right).map(sign) ?? 0
    }
  }

  private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : (right < left ? 1 : 0)
  }

  private static func sign(_ order: ValueOrder) -> Int { order == .less ? -1 : (order == .greater ? 1 : 0) }
}
