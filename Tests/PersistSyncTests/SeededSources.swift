import Foundation
import Persist
import PersistTestSupport

@testable import PersistSync

/// Times and identities that follow from a seed, so that a run of a law can be repeated.
final class SeededSources: Sendable {
  private struct State {
    var random: SeededRandom
    var seconds = 0.0
    var stores: [String: String] = [:]
  }

  private let state: LockProtected<State>
  private let known = KnownVersions()

  init(_ seed: UInt64) { state = LockProtected(State(random: SeededRandom(seed: seed ^ 0x5EED))) }

  /// Lets a second pass.
  func advance() { state.withLock { $0.seconds += 1 } }

  /// A random UUID.
  func uuid() -> UUID {
    state.withLock { state in
      var bytes = (state.random.next(), state.random.next())
      var uuid = withUnsafeBytes(of: &bytes) { $0.loadUnaligned(as: uuid_t.self) }
      uuid.6 = 0x40 | uuid.6 & 0xF
      return UUID(uuid: uuid)
    }
  }

  /// The sources of a device.
  ///
  /// - Parameter years: The error of its clock.
  func sources(years: Int) -> SyncSources {
    let start = Date(timeIntervalSinceReferenceDate: 8e8 + Double(years) * 365 * 86_400)
    return SyncSources(
      now: { [state] in start.addingTimeInterval(state.withLock(\.seconds)) },
      time: { start.addingTimeInterval(Double($0.transactionNumber)) },
      newIdentity: { self.uuid() },
      storeName: { [state] name in
        state.withLock { state in
          let known = state.stores[name] ?? "store \(state.stores.count)"
          state.stores[name] = known
          return known
        }
      },
      known: known)
  }
}
