import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// The cost of every operation grows no more than the number of objects: by statements, and by the thread's work.
@Suite("Growth of the cost of operations", .serialized)
struct GrowthTests {
  private static let count = 250

  private struct Cost {
    var statements: Int
    var work: Duration
  }

  @Test(
    "Four times as many objects cost about four times as much", arguments: GrowthOperation.all + GrowthOperation.stores)
  func growth(_ operation: GrowthOperation) throws {
    let (few, many) = try ReadMoment.withMaximumAge(.seconds(60)) {
      (try Self.cost(of: operation, Self.count), try Self.cost(of: operation, 4 * Self.count))
    }
    #expect(many.statements <= 4 * few.statements + 32, "\(few.statements) and \(many.statements) statements")
    // A quadratic operation costs up to 16 times as much.
    #expect(many.work <= few.work * 8 + .milliseconds(20), "\(few.work) and \(many.work)")
  }

  /// The least of some runs: what disturbs one only adds to it.
  private static func cost(of operation: GrowthOperation, _ count: Int) throws -> Cost {
    var costs: [Cost] = []
    for _ in 0..<2 {
      try withStack(GrowthOperation.model) { stack in
        let run = try operation.prepare(stack, count)
        let before = stack.store.store.statementCount
        let work = try ThreadWork.of(run)
        costs.append(Cost(statements: stack.store.store.statementCount - before, work: work))
      }
    }
    return Cost(
      statements: costs.map(\.statements).min() ?? 0, work: costs.map(\.work).min() ?? .zero)
  }
}
