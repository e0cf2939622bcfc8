import Foundation
import PersistTestSupport
import Testing

@testable import Persist

@Suite("Maximum nesting of predicates")
struct PredicateDepthTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item", attributes: [AttributeDescription("name", .string), AttributeDescription("count", .int64)],
      relationships: [
        RelationshipDescription("parent", to: "Item", inverse: "children"),
        RelationshipDescription("children", toMany: "Item", inverse: "parent"),
      ])
  ])

  /// Trees with the given number of levels, of every kind of nesting.
  private static func trees(_ depth: Int) -> [FetchPredicate] {
    let leaf = FetchPredicate.compare(.key("count"), .equal, .value(1))
    func nested(_ step: (FetchExpression) -> FetchExpression) -> FetchPredicate {
      var expression = FetchExpression.key("count")
      for _ in 0..<depth { expression = step(expression) }
      return .compare(expression, .equal, .value(1))
    }
    func nested(_ step: (FetchPredicate) -> FetchPredicate) -> FetchPredicate {
      var predicate = leaf
      for _ in 0..<depth { predicate = step(predicate) }
      return predicate
    }
    return [
      nested { FetchPredicate.not($0) }, nested { FetchPredicate.and([$0, leaf]) },
      nested { FetchPredicate.or([leaf, $0]) }, nested { FetchExpression.function(.absolute, [$0]) },
      nested { FetchExpression.function(.add, [.value(1), $0]) },
      nested { FetchExpression.function(.bitwiseXor, [$0, .value(1)]) },
      nested { FetchExpression.ternary(leaf, $0, .value(2)) },
      nested { FetchExpression.function(.maximum, [$0, .value(1)]) },
      nested { FetchPredicate.compare(.ternary($0, .value(1), .value(0)), .between, .value(1...2)) },
      nested { FetchPredicate.compare(.ternary($0, .value(1), .value(0)), .in, .value([1, nil, 3] as [Int?])) },
      nested { FetchPredicate.compare(.ternary($0, .value("a"), .value("b")), .beginsWith, .value("a")) },
      nested {
        FetchPredicate.compare(
          .path(of: .subquery(.key("children"), variable: "x", where: $0), ["@count"]), .greaterOrEqual, .value(0))
      },
    ]
  }

  /// Runs work on a thread with a stack as small as that of secondary threads on Apple's platforms.
  private func onSmallStack(_ work: @escaping @Sendable () throws -> Void) throws {
    let result = LockProtected<Result<Void, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      let outcome = Result { try work() }
      result.withLock { $0 = outcome }
      done.signal()
    }
    thread.stackSize = 512 * 1024
    thread.start()
    done.wait()
    try result.withLock { try $0?.get() }
  }

  @Test("SQL or memory evaluates nesting up to the limit, on a small stack", .withoutSanitizer)
  func upToLimit() throws {
    try onSmallStack {
      try withStack(Self.model) { stack in
        let context = stack.context()
        try context.make("Item", ["count": 1])
        try context.save()
        let object = try context.fetch(FetchRequest("Item"))[0]
        for depth in [3, 7, 12, 18, 25, 40, 60] {
          for tree in Self.trees(depth) {
            guard (try? PredicateDepth.check(tree)) != nil else { continue }
            var request = FetchRequest("Item")
            request.predicate = tree
            let expected = try tree.evaluate(with: object) ? 1 : 0
            #expect(try context.count(for: request) == expected)
            #expect(try context.fetch(request).count == expected)
            _ = try context.explain(request).description
            #expect(tree.format.count > depth)
          }
        }
      }
    }
  }

  @Test("Trees beyond the limit are an error, in every use")
  func beyondLimit() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Item", ["count": 1])
      for tree in Self.trees(PredicateDepth.limit + 1) + Self.trees(2000).prefix(4) {
        var request = FetchRequest("Item")
        request.predicate = tree
        let limit: (any Error) -> Bool = { ($0 as? PersistenceError)?.code == .limitExceeded }
        #expect(performing: { try context.fetch(request) }, throws: limit)
        #expect(performing: { try context.count(for: request) }, throws: limit)
        #expect(performing: { try tree.evaluate(with: object) }, throws: limit)
        #expect(performing: { try context.fetch(request.returning(FetchedRow.self)) }, throws: limit)
      }
    }
  }

  @Test("No format string makes a tree beyond the limit")
  func formats() throws {
    let limit = FormatParser.depthLimit
    for (open, close) in [("NOT ", ""), ("NOT NOT ", ""), ("(", ")"), ("NOT (", ")")] {
      for count in 1...limit {
        let format = String(repeating: open, count: count) + "NONE a[0][1] IN {1}" + String(repeating: close, count: count)
        guard let tree = try? FetchPredicate(format) else { continue }
        try PredicateDepth.check(tree)
      }
    }
    for (open, close) in [("abs(", ")"), ("-(", ")"), ("TERNARY(a == ", ", 1, 2)"), ("1 + (", ")"), ("SUBQUERY(a, $x, b == ", ").@count")] {
      for count in 1...limit {
        let format = String(repeating: open, count: count) + "1" + String(repeating: close, count: count) + " NOT IN a"
        guard let tree = try? FetchPredicate(format) else { continue }
        try PredicateDepth.check(tree)
      }
    }
  }
}
