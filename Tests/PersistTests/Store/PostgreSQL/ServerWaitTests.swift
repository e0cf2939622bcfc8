#if canImport(PersistPostgreSQL)
  import Foundation
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel
  @testable import PersistPostgreSQL

  @Suite("Waits of a store on a server")
  struct ServerWaitTests {
    private static let forever = Duration.seconds(Int64.max)
    private let pool = ThreadPool(name: "test", maximum: 2)

    @Test("A wait without a limit ends when the move does, or when the writers have left")
    func unlimited() async throws {
      let gate = WriterGate()
      #expect(gate.shut(within: .zero) == .goingOn)
      let writer = Task { try await pool.run { gate.enter(within: Self.forever) } }
      try await Task.sleep(for: .milliseconds(50))
      gate.open()
      #expect(try await writer.value == .goingOn)
      #expect(gate.shut(within: .milliseconds(5)) == .over)
      let mover = Task { try await pool.run { gate.shut(within: Self.forever) } }
      try await Task.sleep(for: .milliseconds(50))
      gate.leave()
      #expect(try await mover.value == .goingOn)
      #expect(gate.enter(within: .milliseconds(5)) == .over)
    }

    @Test("A writer that waits for a move, and a move that waits for a writer, end when they are canceled")
    func cancelled() async throws {
      let gate = WriterGate()
      #expect(gate.shut(within: .zero) == .goingOn)
      try await expectCancelled { gate.enter(within: .seconds(600)) }
      gate.open()
      #expect(gate.enter(within: .zero) == .goingOn)
      try await expectCancelled { gate.shut(within: .seconds(600)) }
      #expect(gate.enter(within: .zero) == .goingOn)
    }

    private func expectCancelled(
      _ place: SourceLocation = #_sourceLocation, _ wait: @escaping @Sendable () -> BoundedWait.State
    ) async throws {
      let hasBegun = LockProtected(false)
      let task = Task {
        try await pool.run {
          hasBegun.withLock { $0 = true }
          return wait()
        }
      }
      while !hasBegun.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
      task.cancel()
      #expect(try await task.value == .cancelled, sourceLocation: place)
    }

    @Test("A limit for locks is a number that the server accepts")
    func lockTimeout() {
      #expect(ServerText.lockTimeout(Self.forever) == Int64(Int32.max))
      #expect(ServerText.lockTimeout(.milliseconds(1500)) == 1500)
      #expect(ServerText.lockTimeout(.microseconds(10)) == 1 && ServerText.lockTimeout(.zero) == 1)
    }
  }
#endif
