import Foundation
import Synchronization

/// Notifications that are posted only once the process has accessed one of their names.
///
/// A notification can't be observed without its name, and posting has a price: that of a save can exceed the save's
/// own, and the first one of a process costs a quarter of the instructions of opening a store.
struct NotificationGroup: ~Copyable, Sendable {
  private let prefix: String
  private let wanted = Atomic<Bool>(false)

  /// - Parameter prefix: The beginning of every name in the group.
  init(prefix: String) { self.prefix = prefix }

  /// Whether the process has accessed one of the names.
  var isWanted: Bool { wanted.load(ordering: .relaxed) }

  /// Returns one of the names. The group is posted from now on.
  func name(_ text: String) -> Notification.Name {
    wanted.store(true, ordering: .relaxed)
    return Notification.Name(prefix + text)
  }
}
