import Synchronization

/// Saves by others that a context hasn't merged yet.
///
/// Any thread can post; only the context takes. The content is values behind a lock, so neither the context nor its
/// objects are reached from outside its isolation.
package final class SavedChangesMailbox: Sendable {
  /// The content of a mailbox.
  enum Mail: Sendable, Equatable {
    case changes(SavedChanges)
    /// Too many changes to keep, or changes that couldn't be merged: every object has to be checked.
    case tooMuch

    /// Bounds the number of identifiers, and so the memory that a context uses while it doesn't read its mailbox.
    init(_ changes: SavedChanges) {
      let changes = changes.bounded
      self = changes.isIncomplete ? .tooMuch : .changes(changes)
    }

    /// Adds the changes of a later save.
    ///
    /// - Complexity: O(*changes of the later save*).
    mutating func append(_ later: SavedChanges) {
      guard case .changes(var all) = self else { return }
      // A second reference would cause the sets to be copied.
      self = .tooMuch
      all.append(later)
      self = Mail(all)
    }
  }

  /// Wakes a task that waits for mail.
  package struct Bell: Sendable {
    package let ring: @Sendable () -> Void
    /// Whether the task still exists.
    package let isHeard: @Sendable () -> Bool

    package init(ring: @escaping @Sendable () -> Void, isHeard: @escaping @Sendable () -> Bool) {
      self.ring = ring
      self.isHeard = isHeard
    }
  }

  private struct State {
    var mail: Mail?
    var bells: [Bell] = []
    /// Whether the bells are going to ring by themselves.
    var ringsSoon = false
  }

  private let state = LockProtected(State())

  @inline(never)
  func post(_ changes: SavedChanges) {
    let bells = state.withLock { state in
      if state.mail == nil { state.mail = Mail(changes) } else { state.mail?.append(changes) }
      state.bells.removeAll { !$0.isHeard() }
      return state.bells
    }
    for bell in bells { bell.ring() }
  }

  /// The content, for tests.
  var content: Mail? { state.withLock { $0.mail } }

  /// Whether a task waits for mail, or is about to.
  var isAwaited: Bool { state.withLock { $0.bells.contains { $0.isHeard() } } }

  /// Wakes the tasks that wait for mail, even if there is none, because another program or coordinator has written to a
  /// store.
  func ring() {
    for bell in state.withLock({ $0.bells }) { bell.ring() }
  }

  /// Wakes the tasks that wait for mail after a short while, because a store was too busy to say whether there is any.
  func ringSoon() {
    let isNew = state.withLock { state in
      guard !state.ringsSoon, state.bells.contains(where: { $0.isHeard() }) else { return false }
      state.ringsSoon = true
      return true
    }
    guard isNew else { return }
    Task.detached { [weak self] in
      try? await Task.sleep(for: .milliseconds(10))
      self?.state.withLock { $0.ringsSoon = false }
      self?.ring()
    }
  }

  /// Removes and returns the content.
  func take() -> Mail? {
    state.withLock { state in
      defer { state.mail = nil }
      return state.mail
    }
  }

  /// Makes the content ``Mail/tooMuch`` after an error, without waking tasks: the same error might recur at once.
  func requireComparison() { state.withLock { $0.mail = .tooMuch } }

  /// Registers a bell that rings on every post.
  func add(_ bell: Bell) {
    state.withLock { state in
      state.bells.removeAll { !$0.isHeard() }
      state.bells.append(bell)
    }
  }
}

/// The contexts of a coordinator that receive each other's saves.
final class SavedChangesBroadcaster: Sendable {
  private struct Receiver {
    weak var mailbox: SavedChangesMailbox?
  }

  private let receivers = LockProtected<[Receiver]>([])
  private let count = Atomic(0)

  /// Whether any context receives saves. A save without receivers costs only this check.
  var hasReceivers: Bool { count.load(ordering: .relaxed) > 0 }

  func add(_ mailbox: SavedChangesMailbox) {
    receivers.withLock { receivers in
      receivers.removeAll { $0.mailbox == nil || $0.mailbox === mailbox }
      receivers.append(Receiver(mailbox: mailbox))
      count.store(receivers.count, ordering: .relaxed)
    }
  }

  /// Whether a task waits for the saves that one of the contexts receives.
  var isAwaited: Bool { hasReceivers && mailboxes.contains(where: \.isAwaited) }

  /// Wakes the tasks that wait for saves.
  func ring() {
    guard hasReceivers else { return }
    for mailbox in mailboxes { mailbox.ring() }
  }

  private var mailboxes: [SavedChangesMailbox] { receivers.withLock { $0.compactMap(\.mailbox) } }

  func remove(_ mailbox: SavedChangesMailbox) {
    receivers.withLock { receivers in
      receivers.removeAll { $0.mailbox == nil || $0.mailbox === mailbox }
      count.store(receivers.count, ordering: .relaxed)
    }
  }

  /// Posts changes to every receiver except the sender, if there is one.
  func deliver(_ changes: SavedChanges, from sender: SavedChangesMailbox?) {
    guard !changes.isEmpty else { return }
    for mailbox in mailboxes where mailbox !== sender { mailbox.post(changes) }
  }
}
