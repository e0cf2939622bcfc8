import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

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

  private final class Owner: Sendable {}

  @Test("Only the code that uses a reservation holds it, and no task that it starts")
  func holder() async {
    let owner = Owner()
    let reservation = WriteReservation(of: owner) {}
    #expect(!WriteReservation.isHeld(of: owner))
    let task = WriteReservation.using([reservation]) {
      #expect(WriteReservation.isHeld(of: owner))
      return Task { WriteReservation.isHeld(of: owner) }
    }
    #expect(await task?.value == false)
    #expect(WriteReservation.using([reservation]) {} == nil)
    reservation.end()
  }

  @Test("A waiting writer takes back a reservation that isn't used in time, but none that is used")
  func takingBack() {
    let turn = WritingTurn()
    _ = turn.begin { nil }
    let unused = WriteReservation(of: turn) { turn.end() }
    turn.reserve(for: unused, .milliseconds(1))
    #expect(turn.begin { nil } == .goingOn)
    #expect(WriteReservation.using([unused]) {} == nil)
    let used = WriteReservation(of: turn) { turn.end() }
    turn.reserve(for: used, .milliseconds(1))
    WriteReservation.using([used]) { #expect(turn.begin { BoundedWait(.milliseconds(60)) } == .over) }
    used.end()
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
