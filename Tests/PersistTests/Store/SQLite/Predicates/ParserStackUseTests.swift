import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: SQLite can parse every term that is declared to fit.
@Suite("Limits of SQLite's parser")
struct TermRoomTests {
  private static let row = SQLText.RowSelection.root
  private static let leaf = SQLTerm.column("Z_PK", of: row)
  private static let one = SQLTerm.value(.integer(1))

  private static let inner = SQLTerm.column("Z_PK", of: SQLRow(number: 7))

  private static func scan(_ condition: SQLTerm, _ second: SQLTerm? = nil) -> SQLScan {
    let inner = SQLRow(number: 7)
    return SQLScan(
      tables: [.init(name: "ZITEM", row: inner, condition: .binary(.equal, .column("Z_PK", of: inner), condition))],
      condition: second)
  }

  private static let steps: [(String, @Sendable (SQLTerm) -> SQLTerm)] = [
    ("left", { .binary(.add, $0, one) }), ("right", { .binary(.add, one, $0) }), ("negative", { .negative($0) }),
    ("complement", { .complement($0) }), ("real", { .real($0) }), ("text", { .text($0) }), ("null", { .isNull($0) }),
    ("not", { .not($0) }), ("all", { .all([one, one, one, one, $0]) }), ("any", { .any([$0, one]) }),
    ("between", { .between($0, one, one) }), ("lower", { .between(one, $0, one) }),
    ("upper", { .between(one, one, $0) }), ("in", { .isOne($0, of: [.integer(1), .integer(2)]) }),
    ("member", { .isMember($0, ofJSON: "[1]") }), ("call", { .call(.absolute, [$0]) }),
    ("second", { .call(.nullIf, [one, $0]) }), ("third", { .call(.like, [one, one, $0]) }),
    ("if", { .choice(if: $0, then: one, else: one) }), ("then", { .choice(if: one, then: $0, else: one) }),
    ("else", { .choice(if: one, then: one, else: $0) }), ("only", { .only($0, of: scan(one)) }),
    ("key", { .only(one, of: scan($0)) }), ("count", { .count(scan(one, $0)) }), ("exists", { .exists(scan(one, $0)) }),
    ("least", { .least(.binary(.add, inner, $0), of: scan(one)) }),
    ("sum", { .sum(.binary(.add, inner, $0), of: scan(one)) }),
    ("sum where", { .sum(one, of: scan(one, $0)) }), ("selected", { .isSelected($0, inner, of: scan(one)) }),
    ("selected value", { .isSelected(one, .binary(.add, inner, $0), of: scan(one)) }),
    ("selected where", { .isSelected(one, inner, of: scan(one, $0)) }),
  ]

  /// SQLite's errors for statements with a term in every place; nil for none.
  private func error(_ term: SQLTerm, _ store: SQLiteStore) -> String? {
    var selection = SQLText.RowSelection(table: "ZITEM", entities: .known([1, 2, 3]))
    selection.condition = term
    (selection.keys, selection.afterKey, selection.limit) = ("[1,2]", 0, 5)
    selection.order = [.init(value: term, isAscending: false, isDecimal: true, comparison: .values)]
    let columns = [SQLColumn.aggregate(.average, term), .aggregate(.sum, term), .term(term)]
    for sql in [SQLText.rows(.keyColumns(ofOnly: nil), selection), .count(selection), .values(columns, selection, groups: [term])] {
      do {
        try store.pool.read { try $0.query(SQLText(checked: SQLText.plan(of: sql.text))) { _ in } }
      } catch {
        return (error as? PersistenceError).map { "\($0.message)" } ?? "\(error)"
      }
    }
    return nil
  }

  @Test(
    "Every form, nested up to the declared limit, alone and mixed",
    .aboutFiles("SQLite's parser"), .law("term-room", short: 150, long: 20_000))
  func nested() throws {
    let model = try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Item")]))
    try withTemporaryStore { url in
      let store = try SQLiteStore.create(url, model: model, options: StoreOptions())
      defer { try? store.close() }
      for (name, step) in Self.steps {
        var (term, depth) = (Self.leaf, 0)
        while case let next = step(term), ParserStackUse.holds(next) { (term, depth) = (next, depth + 1) }
        let message = error(term, store)
        #expect(message == nil, "\(name), \(depth) levels")
      }
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        var term = Self.leaf
        while let (_, step) = Self.steps.randomElement(using: &random), case let next = step(term), ParserStackUse.holds(next) {
          term = next
        }
        let message = error(term, store)
        #expect(message == nil)
      }
    }
  }

  @Test("Operands aren't repeated: statements grow in proportion to the nesting", .aboutFiles("SQLite's statements"))
  func linear() throws {
    try withStack(PredicateAgreementTests.model) { stack in
      let entity = try stack.model.entity(named: "Item")
      for template in [
        "abs(#)", "bitwiseXor:with:(#, 3)", "TERNARY(int16 > 0, #, 1)", "TERNARY(# BETWEEN {1, 2}, 1, 0)",
        "TERNARY(# IN {1, nil, 2}, 1, 0)", "-#", "modulus:by:(#, 3)",
      ] {
        var lengths: [Int] = []
        var format = "int16"
        for _ in 0..<8 {
          format = template.replacingOccurrences(of: "#", with: "(\(format))")
          let request = try FetchRequest<ManagedObject>("Item", where: "\(format) == 1")
          let statement = try #require(try stack.context().explain(request).statements.first)
          guard try stack.store.divide(#require(request.predicate), over: entity).rest == nil else { break }
          lengths.append(statement.sql.utf8.count)
        }
        let steps = zip(lengths, lengths.dropFirst()).map { $1 - $0 }
        #expect(lengths.count > 3, "\(template)")
        #expect(Set(steps).count <= 1, "\(template): \(lengths)")
      }
    }
  }

  @Test("Long paths and long lists of conditions are evaluated in memory if SQLite can't parse them")
  func beyond() throws {
    try withStack(PredicateDepthModel.description) { stack in
      let context = stack.context()
      var objects: [ManagedObject] = []
      for number in 0..<80 {
        let object = try context.make("Node", ["number": number])
        object["next"] = objects.last
        objects.append(object)
      }
      try context.save()
      let fresh = stack.context()
      for steps in [1, 10, 15, 18, 19, 30, 70] {
        let path = Array(repeating: "next", count: steps)
        for format in [
          (path + ["number"]).joined(separator: ".") + " == 3", (path + ["number"]).joined(separator: ".") + " == nil",
          "ANY " + (Array(repeating: "previous", count: steps) + ["number"]).joined(separator: ".") + " == 79",
        ] {
          let request = try FetchRequest<ManagedObject>("Node", where: format)
          let predicate = try #require(request.predicate)
          let expected = try fresh.fetch(FetchRequest("Node")).filter { try predicate.evaluate(with: $0) }.count
          #expect(try fresh.count(for: request) == expected, "\(format)")
        }
      }
      for steps in [1, 10, 25, 70] { try sorts(by: steps, in: stack) }
      var request = FetchRequest<ManagedObject>("Node")
      let parts = (0..<5000).map { FetchPredicate.compare(.key("number"), .notEqual, .value($0 + 10)) }
      request.predicate = .and(parts)
      #expect(try fresh.count(for: request) == 10)
      request.predicate = .or((0..<5000).map { .not(.compare(.key("next.next.number"), .notEqual, .value($0))) })
      #expect(try fresh.count(for: request) == 78)
    }
  }

  /// A chain of nodes, sorted by a number the given steps down; those without one come first, by key.
  private func sorts(by steps: Int, in stack: TestStack) throws {
    let key = (Array(repeating: "next", count: steps) + ["number"]).joined(separator: ".")
    let ascending = Array(0..<80)
    let descending = (steps..<80).reversed() + (0..<steps)
    for (isAscending, expected) in [(true, ascending), (false, Array(descending))] {
      var request = FetchRequest<ManagedObject>("Node")
      request.sortDescriptors = [.init(key, isAscending: isAscending)]
      func numbers(_ objects: [ManagedObject]) -> [Int?] { objects.map { $0["number"] as? Int } }
      let context = stack.context()
      #expect(numbers(try context.fetch(request)) == expected, "\(key)")
      #expect(numbers(try ManagedObjectContext(parent: stack.context()).fetch(request)) == expected, "\(key), a child")
      #expect(numbers(try context.fetchObjectIDs(request).map(context.object)) == expected, "\(key), identifiers")
      let rows = try context.fetch(request.returning(FetchedRow.self))
      #expect(rows.map { $0["number"] as? Int } == expected, "\(key), rows")
      var batches: [Int?] = []
      try context.forEachBatch(of: request, size: 7) { batches += numbers($0) }
      #expect(batches == expected, "\(key), batches")
      let explanation = try context.explain(request)
      #expect(explanation.sortedInMemory == (steps < 20 ? [] : request.sortDescriptors), "\(key)")
      #expect(explanation.description.contains("sorted in memory: \(key)") == (steps > 20), "\(key)")

      (request.fetchOffset, request.fetchLimit) = (3, 5)
      #expect(numbers(try context.fetch(request)) == Array(expected[3..<8]), "\(key), a window")
      #expect(try context.count(for: request) == 5)
      // An unsaved change is respected only if the request includes it.
      (request.fetchOffset, request.fetchLimit) = (0, 0)
      let target = try #require(try context.fetch(FetchRequest<ManagedObject>("Node", where: "number == 5")).first)
      target["number"] = 1000
      let place = 5 + steps
      let moved = expected.filter { $0 != place }.map { $0 == 5 ? 1000 : $0 }
      if place < 80 {
        #expect(
          numbers(try context.fetch(request)) == (isAscending ? moved + [place] : [place] + moved), "\(key), unsaved")
      }
      request.includesPendingChanges = false
      #expect(numbers(try context.fetch(request)) == expected.map { $0 == 5 ? 1000 : $0 }, "\(key), as saved")
    }
  }
}

enum PredicateDepthModel {
  static let description = ModelDescription(entities: [
    EntityDescription(
      "Node", attributes: [AttributeDescription("number", .int64)],
      relationships: [
        RelationshipDescription("next", to: "Node", inverse: "previous"),
        RelationshipDescription("previous", toMany: "Node", inverse: "next"),
      ])
  ])
}
