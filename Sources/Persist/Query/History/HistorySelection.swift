import Foundation

/// Selects and orders the transactions or changes of a fetch request, in memory.
package struct HistorySelection<Result> {
  private let request: FetchRequest<Result>
  private let evaluator = ExpressionEvaluator()

  package init(_ request: FetchRequest<Result>) { self.request = request }

  /// The selected elements, in the request's order, within its limit and offset.
  ///
  /// - Throws: The errors of evaluating the predicate and the sort keys.
  package func select<Element>(_ elements: [Element], _ object: (Element) -> any KeyedObject) throws -> [Element] {
    let predicate = try request.predicate.map { try PredicateDepth.limited($0) }
    let found = try elements.filter { element in
      try predicate.map { try evaluator.matches($0, .object(object(element))) } ?? true
    }
    let keyed = try found.enumerated().map { index, element in
      (
        index, element,
        try request.sortDescriptors.map { try evaluator.value(of: $0.expression, for: .object(object(element))).stored }
      )
    }
    let sorted = request.sortDescriptors.isEmpty ? keyed : keyed.ordered { left, right in
      for (index, descriptor) in request.sortDescriptors.enumerated() {
        switch Self.order(left.2[index], to: right.2[index], by: descriptor) {
        case .less: return descriptor.isAscending
        case .greater: return !descriptor.isAscending
        case .equal: continue
        }
      }
      return left.0 < right.0
    }
    let rest = sorted.dropFirst(max(0, request.fetchOffset)).map(\.1)
    return request.fetchLimit > 0 ? Array(rest.prefix(request.fetchLimit)) : Array(rest)
  }

  /// Null sorts before every value.
  private static func order(
    _ left: StoredValue?, to right: StoredValue?, by descriptor: FetchSortDescriptor
  ) -> ValueOrder {
    switch (left ?? .null, right ?? .null) {
    case (.null, .null): .equal
    case (.null, _): .less
    case (_, .null): .greater
    case (.string(let left), .string(let right)): descriptor.comparison.order(left, right)
    case (let left, let right): left.order(to: right) ?? .equal
    }
  }
}
