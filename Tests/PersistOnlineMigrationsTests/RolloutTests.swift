import Foundation
import PersistTestSupport
import Testing

/// The ledger of a rollout: processes with three versions of a model, and plain `psql`, write while the store goes from
/// the first to the third and back once. Processes and migrations are killed, and the server fails over to its standby.
///
/// A normal run makes one round with some kills. A campaign makes rounds for as many minutes as the variable says, and
/// kills each step at every flight. It prints the longest waits, and for those of two seconds and more what sessions of
/// the servers waited for meanwhile. `PERSIST_ROLLOUT_FAILOVER` is the number of the step, from 1 to 9, in which the
/// server fails over:
///
/// ```sh
/// PERSIST_ROLLOUT_MINUTES=10 swift test --filter RolloutTests
/// ```
@Suite("Programs of three versions, plain SQL, kills and a failover", .needsServer, .serialized, .onOwnThread)
struct RolloutTests {
  /// The maximum time of a read or a save on a busy machine, in milliseconds, except while the server fails over.
  private static let longestWait = 5000.0

  @Test("No acknowledged write is lost or doubled, and programs of two versions see the same")
  func rollout() throws {
    let environment = ProcessInfo.processInfo.environment
    let minutes = environment["PERSIST_ROLLOUT_MINUTES"].flatMap(Double.init) ?? (TestLength.isLong ? 5 : 0)
    let end = ContinuousClock.now + .seconds(60 * minutes)
    var seed = environment["PERSIST_SEED"].flatMap(UInt64.init) ?? 1
    let step = environment["PERSIST_ROLLOUT_FAILOVER"].flatMap(Int.init)
    var waits = RolloutWaits()
    defer { if minutes > 0 { print(waits) } }
    repeat {
      let rollout = try Rollout(seed: seed, isThorough: minutes > 0, failoverStep: step)
      defer { rollout.end() }
      defer { if let own = try? rollout.waits() { waits.add(own) } }
      try rollout.run()
      seed += 1
    } while ContinuousClock.now < end
    if minutes > 0 { #expect(waits.longest <= Self.longestWait) }
  }
}
