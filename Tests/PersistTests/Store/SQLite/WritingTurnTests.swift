import Foundation
import Testing

@testable import Persist

@Suite("Order of writers")
struct WritingTurnTests {
  @Test("Writers proceed in the order in which they began to wait")
  func order() async throws {
    let turn = WritingTurn()
    let pool = ThreadPool(name: "test", maximum: 16)
    let order = LockProtected<[Int]>([])
    #expect(turn.begin { nil } == .goingOn)
    for number in 0..<16 {
      pool.add {
        _ = turn.begin { nil }
        order.withLock { $0.append(number) }
        turn.end()
      }
      // The next one starts when this one waits.
      while turn.waitingCount < number + 1 { try await Task.sleep(for: .milliseconds(1)) }
    }
    #expect(!turn.tryBegin())
    turn.end()
    let end = ContinuousClock.now + .seconds(300)
    while order.withLock({ $0.count }) < 16, .now < end { try await Task.sleep(for: .milliseconds(1)) }
    #expect(order.withLock { $0 } == Array(0..<16))
    #expect(turn.tryBegin())
  }

  @Test("A writer that has waited too long, or was canceled, leaves the others in their order")
  func leaving() async throws {
    let turn = WritingTurn()
    let pool = ThreadPool(name: "test", maximum: 4)
    _ = turn.begin { nil }
    let cancelled = Task { try await pool.run { turn.begin { BoundedWait(.seconds(60)) } } }
    while turn.waitingCount < 1 { try await Task.sleep(for: .milliseconds(1)) }
    let patient = Task { try await pool.run { turn.begin { BoundedWait(.seconds(60)) } } }
    while turn.waitingCount < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try await pool.run { turn.begin { BoundedWait(.milliseconds(5)) } } == .over)
    cancelled.cancel()
    #expect(try await cancelled.value == .cancelled)
    turn.end()
    #expect(try await patient.value == .goingOn)
    #expect(turn.waitingCount == 0 && !turn.tryBegin())
  }
}
