import Foundation

@testable import Persist
@testable import PersistModel

/// A mailbox in which contexts announce their saves to each other.
final class ChangePost: Sendable {
  private let boxes: LockProtected<[[SavedChanges]]>

  init(receivers: Int) { boxes = LockProtected(Array(repeating: [], count: receivers)) }

  func send(_ changes: SavedChanges, from sender: Int) {
    boxes.withLock { boxes in
      for receiver in boxes.indices where receiver != sender { boxes[receiver].append(changes) }
    }
  }

  func take(_ receiver: Int) -> [SavedChanges] {
    boxes.withLock { boxes in
      defer { boxes[receiver] = [] }
      return boxes[receiver]
    }
  }
}

/// The work of one of several tasks that share a store, in a context of its own: creates owners with pets, moves pets,
/// deletes owners, increments counters of shared objects, and merges the others' saves. Every second task's context
/// merges automatically.
struct ConcurrentWork {
  /// The expected contents of the store at the end.
  struct Totals: Sendable {
    var (rounds, increments, owners, pets, merged) = (0, 0, 0, 0, 0)

    static func += (left: inout Totals, right: Totals) {
      left.rounds += right.rounds
      left.increments += right.increments
      left.owners += right.owners
      left.pets += right.pets
      left.merged += right.merged
    }
  }

  private(set) var totals = Totals()
  private let number: Int
  private let context: ManagedObjectContext
  private let counters: [ManagedObject]
  private let post: ChangePost
  private let recorder: EventRecorder

  init(_ number: Int, in context: ManagedObjectContext, counters: [ManagedObjectID], post: ChangePost) {
    self.number = number
    self.context = context
    context.automaticallyMergesChangesFromParent = !number.isMultiple(of: 2)
    self.post = post
    self.counters = counters.map(context.object(with:))
    recorder = EventRecorder(context)
  }

  /// Continues for some time, at least one round.
  mutating func run(for duration: Duration) throws {
    let end = ContinuousClock.now + duration
    repeat {
      try makeAndDelete()
      try count(up: counters[totals.rounds % counters.count])
      merge()
      _ = try context.count(for: FetchRequest("Pet"))
      totals.rounds += 1
    } while ContinuousClock.now < end
  }

  private mutating func makeAndDelete() throws {
    let owners = try (0..<2).map { try context.make("Person", ["name": "\(number).\(totals.rounds).\($0)"]) }
    let pets = try (0..<3).map { try context.make("Pet", ["name": "\($0)", "owner": owners[0]]) }
    try save()
    pets[0]["owner"] = owners[1]
    try save()
    totals.owners += 2
    totals.pets += 3
    guard totals.rounds.isMultiple(of: 3) else { return }
    context.delete(owners[0])
    try save()
    totals.owners -= 1
    totals.pets -= 2
  }

  /// A change made by others in between is resolved by reading again.
  private mutating func count(up counter: ManagedObject) throws {
    while true {
      counter["name"] = String((Int(counter["name"] as? String ?? "") ?? 0) + 1)
      do {
        try save()
        totals.increments += 1
        return
      } catch let error as PersistenceError where error.code == .mergeConflict {
        context.refresh(counter, mergeChanges: false)
      }
    }
  }

  private func save() throws {
    try context.save()
    for saved in recorder.saves { post.send(saved.savedChanges, from: number) }
    recorder.forget()
  }

  private mutating func merge() {
    for changes in post.take(number) where !context.automaticallyMergesChangesFromParent {
      context.mergeChanges(from: changes)
      totals.merged += 1
    }
  }
}
