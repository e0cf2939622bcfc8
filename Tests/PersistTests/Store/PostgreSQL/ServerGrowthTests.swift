#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// The counterpart of ``GrowthTests``, which counts round trips.
  @Suite("Growth of the cost of operations on a server", .serialized, .needsServer)
  struct ServerGrowthTests {
    private static let count = 40

    private struct Cost {
      let flights: Int
      let work: Duration
    }

    @Test(
      "Four times as many objects cost about four times as much",
      arguments: GrowthOperation.all + GrowthOperation.stores)
    func growth(_ operation: GrowthOperation) throws {
      let (few, many) = try ReadMoment.withMaximumAge(.seconds(60)) {
        (try Self.cost(of: operation, Self.count), try Self.cost(of: operation, 4 * Self.count))
      }
      #expect(many.flights <= 4 * few.flights + 32, "\(few.flights) and \(many.flights) flights")
      #expect(many.work <= few.work * 8 + .milliseconds(40), "\(few.work) and \(many.work)")
    }

    private static func cost(of operation: GrowthOperation, _ count: Int) throws -> Cost {
      let model = try ManagedObjectModel(GrowthOperation.model)
      return try TestServer.withSchema { text in
        let stack = try TestStack(model, at: #require(URL(string: text)))
        let run = try operation.prepare(stack, count)
        let before = stack.store.store.statementCount
        let work = try ThreadWork.of(run)
        let cost = Cost(flights: stack.store.store.statementCount - before, work: work)
        try stack.store.close()
        return cost
      }
    }
  }
#endif
