import Foundation
import PersistTestSupport
import Testing

/// The ledger of a rollout: processes with three versions of a model, and plain `psql`, write while the store goes from
/// the first to the third and back once. Processes and migrations are killed, and the server fails over to its standby.
///
/// A normal run makes one round with some kills. A campaign makes rounds for as many minutes as the variable says, and
/// kills each step at every flight:
///
/// ```sh
/// PERSIST_ROLLOUT_MINUTES=10 swift test --filter RolloutTests
/// ```
@Suite("Programs of three versions, plain SQL, kills and a failover", .needsServer, .serialized)
struct RolloutTests {
  @Test("No acknowledged write is lost or doubled, and programs of two versions see the same")
  func rollout() throws {
    let environment = ProcessInfo.processInfo.environment
    let minutes = environment["PERSIST_ROLLOUT_MINUTES"].flatMap(Double.init) ?? (TestLength.isLong ? 5 : 0)
    let end = ContinuousClock.now + .seconds(60 * minutes)
    var seed = environment["PERSIST_SEED"].flatMap(UInt64.init) ?? 1
    var waits = RolloutWaits()
    repeat {
      let rollout = try Rollout(seed: seed, isThorough: minutes > 0)
      defer { rollout.end() }
      try rollout.run()
      waits.add(try rollout.waits())
      seed += 1
    } while ContinuousClock.now < end
    if minutes > 0 { print(waits) }
  }
}
