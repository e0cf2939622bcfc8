import Foundation
import Synchronization

/// The changes that devices were told to make, and whether they have acknowledged them.
///
/// Each chore has a number, and each of its titles is one that no other change sets: `17.4` is the fifth title of chore
/// 17. Therefore a store shows which change it has.
final class Ledger: Sendable {
  enum Change: Sendable {
    /// Adds the chore with its title 0, or gives it another one.
    case title(Int)
    case done
    case deletion
  }

  /// A change that may have been saved from its beginning until its end, and has been if it was acknowledged.
  struct Entry: Sendable {
    let change: Change
    let begin: ContinuousClock.Instant
    let end: ContinuousClock.Instant
    let isAcknowledged: Bool
  }

  private struct Chore {
    var titles = 0
    var entries: [Entry] = []
  }

  private let chores = Mutex<[Chore]>([])

  var acknowledged: Int {
    chores.withLock { $0.reduce(0) { $0 + $1.entries.count(where: \.isAcknowledged) } }
  }

  var unanswered: Int {
    chores.withLock { $0.reduce(0) { $0 + $1.entries.count { !$0.isAcknowledged } } }
  }

  /// Whether a chore was added by a device of the trial.
  func contains(_ chore: Int) -> Bool { chores.withLock { $0.indices.contains(chore) } }

  /// Begins another chore.
  func newChore() -> Int {
    chores.withLock {
      $0.append(Chore())
      return $0.count - 1
    }
  }

  /// Begins another title of a chore.
  func newTitle(of chore: Int) -> Int {
    chores.withLock {
      $0[chore].titles += 1
      return $0[chore].titles - 1
    }
  }

  func add(_ entry: Entry, to chore: Int) { chores.withLock { $0[chore].entries.append(entry) } }

  /// The state of a chore as a store shows it.
  struct Shown: Equatable {
    let title: Int
    let isDone: Bool
  }

  /// The ways in which a store contradicts the ledger.
  func contradictions(_ shown: [Int: Shown]) -> [String] {
    chores.withLock { chores in
      chores.indices.flatMap { number in Self.contradictions(number, chores[number].entries, shown[number]) }
        + shown.keys.filter { !chores.indices.contains($0) }.map { "Nobody has added chore \($0)." }
    }
  }

  private static func contradictions(_ number: Int, _ entries: [Entry], _ shown: Shown?) -> [String] {
    var (titles, done, deletions): ([(Int, Entry)], [Entry], [Entry]) = ([], [], [])
    for entry in entries {
      switch entry.change {
      case .title(let title): titles.append((title, entry))
      case .done: done.append(entry)
      case .deletion: deletions.append(entry)
      }
    }
    guard let shown else {
      let isAdded = titles.contains { $0.0 == 0 && $0.1.isAcknowledged }
      return isAdded && deletions.isEmpty ? ["Chore \(number) is missing."] : []
    }
    var complaints: [String] = []
    if deletions.contains(where: \.isAcknowledged) { complaints.append("Chore \(number) was deleted, and is there.") }
    if done.contains(where: \.isAcknowledged), !shown.isDone { complaints.append("Chore \(number) isn't done.") }
    if done.isEmpty, shown.isDone { complaints.append("Nobody has done chore \(number).") }
    guard let (_, origin) = titles.first(where: { $0.0 == shown.title }) else {
      return complaints + ["Nobody has given chore \(number) the title \(shown.title)."]
    }
    // Of two changes at the same time, either may be the last one.
    for (title, entry) in titles where entry.isAcknowledged && entry.begin > origin.end {
      complaints.append("Chore \(number) has the title \(shown.title), and got the title \(title) later.")
    }
    return complaints
  }
}
