import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

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
            guard (try? PredicateDepth.limited(tree)) != nil else { continue }
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

  /// The trees that are chains of any length.
  private static let chains: Set = [0, 1, 2, 4]

  @Test("Chains of any length that loops build have the result of each step")
  func chains() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Item", ["count": 1])
      try context.save()
      let flags: [StoredValue] = [.integer(0), .integer(1), .integer(3001)]
      for length in [1000, 3000] {
        for index in Self.chains.sorted() {
          let tree = Self.trees(length)[index]
          var request = FetchRequest("Item")
          for value in flags {
            // NOT an even number of times, AND and OR of equal parts, and a sum.
            let sum = FetchPredicate.compare(
              .function(.add, [.key("count"), .value(Int64(length))]), .equal, .constant(value))
            request.predicate = index == 4 ? tree.comparing(with: value) : tree
            let expected = index == 4 ? sum : FetchPredicate.compare(.key("count"), .equal, .value(1))
            #expect(try context.count(for: request) == (expected.evaluate(with: object) ? 1 : 0))
            #expect(try request.predicate?.evaluate(with: object) == expected.evaluate(with: object))
          }
        }
      }
    }
  }

  @Test("The work of building a predicate in a loop grows as its length, and it stays one level")
  func linear() throws {
    let leaf = FetchPredicate.compare(.key("count"), .less, .value(5))
    var (both, either) = (leaf, leaf)
    func work(_ length: Int) -> Duration {
      (both, either) = (leaf, leaf)
      return ThreadWork.of {
        for number in 0..<length {
          both = both && leaf
          either = number.isMultiple(of: 2) ? either || leaf : leaf || either
        }
      }
    }
    let (few, many) = (work(5_000), work(40_000))
    guard case .and(let all) = try PredicateDepth.limited(both), case .or(let any) = try PredicateDepth.limited(either)
    else { return #expect(Bool(false), "The chains are no longer chains.") }
    #expect(all.count == 40_001 && any.count == 40_001)
    // A quadratic loop costs 64 times as much.
    #expect(many <= few * 16 + .milliseconds(20), "\(few) and \(many)")
  }

  @Test("The format of a sum of many operands is read as one sum")
  func longSums() throws {
    let sum = try FetchExpression(Array(repeating: "count", count: 5_000).joined(separator: " + "))
    #expect(sum == .function(.add, Array(repeating: .key("count"), count: 5_000)))
    #expect(try FetchExpression(sum.format) == sum)
    #expect(try FetchExpression("a + b - c + d * e * f").format == "a + b - c + d * e * f")
  }

  @Test("A sum of many operands is calculated from the first to the last, in a store and in memory")
  func sums() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Item", ["count": 3])
      try context.save()
      for count in [3, 10, 60, 100] {
        // Each order of calculation rounds differently.
        var operands: [FetchExpression] = []
        var expected = 0.0
        for number in 1...count {
          operands.append(.value(1 / Double(number)))
          expected += 1 / Double(number)
        }
        operands.append(.key("count"))
        expected += 3
        var request = FetchRequest("Item")
        request.predicate = .compare(.function(.add, operands), .equal, .value(expected))
        #expect(try context.count(for: request) == 1, "\(count)")
        #expect(try request.predicate?.evaluate(with: object) == true)
      }
    }
  }

  @Test("A path with more than a hundred keys is an error that says so")
  func paths() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Item", ["count": 1])
      try context.save()
      func path(_ count: Int) -> String { String(repeating: "parent.", count: count - 1) + "count" }
      let isLimit: (any Error) -> Bool = {
        ($0 as? PersistenceError).map { $0.code == .limitExceeded && $0.message.contains("at most 100") } ?? false
      }
      for count in [101, 10_000] {
        var (sorted, found) = (FetchRequest("Item"), FetchRequest("Item"))
        sorted.sortDescriptors = [FetchSortDescriptor(path(count))]
        found.predicate = try FetchPredicate(path(count) + " == 1")
        var prefetched = FetchRequest("Item")
        prefetched.relationshipKeyPathsForPrefetching = [String(repeating: "parent.", count: count - 1) + "parent"]
        for request in [sorted, found, prefetched] {
          #expect(performing: { try context.fetch(request) }, throws: isLimit)
          #expect(performing: { try context.count(for: request) }, throws: isLimit)
        }
        #expect(performing: { try object.value(forKeyPath: path(count)) }, throws: isLimit)
      }
      #expect(try object.value(forKeyPath: path(100)) == nil)
    }
  }

  @Test("Trees beyond the limit are an error, in every use")
  func beyondLimit() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let object = try context.make("Item", ["count": 1])
      let refused = Self.trees(PredicateDepth.limit + 1).enumerated().filter { !Self.chains.contains($0.offset) }
      for tree in refused.map(\.element) + [Self.trees(2000)[3]] {
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
        _ = try PredicateDepth.limited(tree)
      }
    }
    for (open, close) in [("abs(", ")"), ("-(", ")"), ("TERNARY(a == ", ", 1, 2)"), ("1 + (", ")"), ("SUBQUERY(a, $x, b == ", ").@count")] {
      for count in 1...limit {
        let format = String(repeating: open, count: count) + "1" + String(repeating: close, count: count) + " NOT IN a"
        guard let tree = try? FetchPredicate(format) else { continue }
        _ = try PredicateDepth.limited(tree)
      }
    }
  }
}

extension FetchPredicate {
  /// The predicate with another right side.
  fileprivate func comparing(with value: StoredValue) -> FetchPredicate {
    guard case .comparison(var comparison) = self else { return self }
    comparison.right = .constant(value)
    return .comparison(comparison)
  }
}
