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

    /// Whether the cost of four times as many objects is that of a linear operation. The work of a quadratic one is up
    /// to 16 times as much.
    func admits(_ many: Cost) -> Bool {
      many.statements <= 4 * statements + 32 && many.work <= work * 8 + .milliseconds(20)
    }

    mutating func decrease(to other: Cost) {
      (statements, work) = (min(statements, other.statements), min(work, other.work))
    }
  }

  @Test(
    "Four times as many objects cost about four times as much", arguments: GrowthOperation.all + GrowthOperation.stores)
  func growth(_ operation: GrowthOperation) throws {
    try ReadMoment.withMaximumAge(.seconds(60)) {
      var (few, many) = (try Self.cost(of: operation, Self.count), try Self.cost(of: operation, 4 * Self.count))
      // What disturbs a run only adds to its cost.
      for _ in 0..<2 where !few.admits(many) {
        few.decrease(to: try Self.cost(of: operation, Self.count))
        many.decrease(to: try Self.cost(of: operation, 4 * Self.count))
      }
      #expect(
        few.admits(many),
        "\(few.statements) and \(many.statements) statements, \(few.work) and \(many.work)")
    }
  }

  private static func cost(of operation: GrowthOperation, _ count: Int) throws -> Cost {
    var cost = Cost(statements: 0, work: .zero)
    try withStack(GrowthOperation.model) { stack in
      let run = try operation.prepare(stack, count)
      let before = stack.store.store.statementCount
      cost.work = try ThreadWork.of(run)
      cost.statements = stack.store.store.statementCount - before
    }
    return cost
  }
}
