import Persist
import PersistMacrosless
import Synchronization
import Testing

@Suite("Cost of key paths in requests")
struct KeyPathCostTests {
  private static let valueCount = Atomic(0)

  private final class Ticket: ManagedObject {
    @Attribute var number = KeyPathCostTests.nextNumber()
    @Attribute var name = ""
  }

  private static func nextNumber() -> Int { valueCount.add(1, ordering: .relaxed).newValue }

  @Test("A key path is evaluated once for all contexts of a container, so that each request to a server is cheap")
  func sharedNames() async throws {
    let container = try PersistentContainer(inMemory: ManagedObjectModel(Ticket.self))
    let count: @Sendable (ManagedObjectContext) throws -> Int = { context in
      try context.count(for: Ticket.where(\.number > 5 && \.name == "a"))
    }
    try await #expect(container.read(count) == 0)
    let evaluated = Self.valueCount.load(ordering: .relaxed)
    for _ in 0..<20 { try await #expect(container.read(count) == 0) }
    #expect(Self.valueCount.load(ordering: .relaxed) == evaluated)
  }
}
