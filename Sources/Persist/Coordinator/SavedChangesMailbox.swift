import Synchronization

/// Saves of others that a context is to merge, until it comes to it.
///
/// Any thread posts; only the context takes. What is kept is values behind a lock, so that neither the context nor its
/// objects are reached from outside its isolation.
final class SavedChangesMailbox: Sendable {
  /// What a context finds in its mailbox.
  enum Mail: Sendable, Hashable {
    case changes(SavedChanges)
    /// More changed than was worth keeping: every object has to be looked at.
    case tooMuch

    /// A context that doesn't look into its mailbox for long costs no more memory than a bounded number of identifiers.
    init(_ changes: SavedChanges) {
      let changes = changes.bounded
      self = changes.isIncomplete ? .tooMuch : .changes(changes)
    }
  }

  /// Wakes somebody who waits for mail.
  struct Bell: Sendable {
    let ring: @Sendable () -> Void
    /// Whether there still is somebody.
    let isHeard: @Sendable () -> Bool
  }

  private struct State {
    var mail: Mail?
    var bells: [Bell] = []
  }

  private let state = Guarded(State())

  func post(_ changes: SavedChanges) {
    let bells = state.withLock { state in
      switch state.mail {
      case nil: state.mail = Mail(changes)
      case .changes(let earlier)?: state.mail = Mail(earlier.followed(by: changes))
      case .tooMuch?: break
      }
      state.bells.removeAll { !$0.isHeard() }
      return state.bells
    }
    for bell in bells { bell.ring() }
  }

  /// Takes everything out.
  func take() -> Mail? {
    state.withLock { state in
      defer { state.mail = nil }
      return state.mail
    }
  }

  /// Has a bell rung whenever there is mail.
  func add(_ bell: Bell) {
    state.withLock { state in
      state.bells.removeAll { !$0.isHeard() }
      state.bells.append(bell)
    }
  }
}

/// The contexts of a coordinator that want to hear of each other's saves.
final class SavedChangesPost: Sendable {
  private struct Receiver {
    weak var mailbox: SavedChangesMailbox?
  }

  private let receivers = Guarded<[Receiver]>([])
  private let count = Atomic(0)

  /// Whether anybody wants to hear of saves; a save that nobody hears of costs this look.
  var hasReceivers: Bool { count.load(ordering: .relaxed) > 0 }

  func add(_ mailbox: SavedChangesMailbox) {
    receivers.withLock { receivers in
      receivers.removeAll { $0.mailbox == nil || $0.mailbox === mailbox }
      receivers.append(Receiver(mailbox: mailbox))
      count.store(receivers.count, ordering: .relaxed)
    }
  }

  func remove(_ mailbox: SavedChangesMailbox) {
    receivers.withLock { receivers in
      receivers.removeAll { $0.mailbox == nil || $0.mailbox === mailbox }
      count.store(receivers.count, ordering: .relaxed)
    }
  }

  /// Tells everybody but the one who saved.
  func deliver(_ changes: SavedChanges, from sender: SavedChangesMailbox) {
    guard !changes.isEmpty else { return }
    let mailboxes = receivers.withLock { $0.compactMap(\.mailbox) }
    for mailbox in mailboxes where mailbox !== sender { mailbox.post(changes) }
  }
}
