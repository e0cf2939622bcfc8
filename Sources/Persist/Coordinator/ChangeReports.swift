import Foundation
import Synchronization

/// Runs the reports of a store's changes one after another, on a thread that no other one waits for.
///
/// An observer with a queue blocks the thread that posts a notification until its code has run on the queue. If the
/// thread that watches the store posted it, ending the observation on that queue would wait for itself.
final class ChangeReports: Sendable {
  private let queue = DispatchQueue(label: "Persist: reports of changes")
  private let isRequested = Atomic(false)
  private let report: @Sendable () -> Void

  init(_ report: @escaping @Sendable () -> Void) { self.report = report }

  /// Requests a report of the changes so far. Requests that arrive before it begins are combined.
  func request() {
    guard !isRequested.exchange(true, ordering: .acquiringAndReleasing) else { return }
    queue.async { [self] in
      // First, since the report may not contain a change that is made meanwhile.
      isRequested.store(false, ordering: .releasing)
      report()
    }
  }
}
