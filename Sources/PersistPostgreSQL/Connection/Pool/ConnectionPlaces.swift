import Foundation
import Persist

/// Grants threads the use of a few connections in order of request, and keeps some of them for reading.
///
/// Writers come back at once for their next save: without an order, some would wait while others save again and again,
/// and a reader would wait for all of them.
// @unchecked: everything that changes is touched only while `lock` is held.
final class ConnectionPlaces: @unchecked Sendable {
  private struct Applicant {
    let thread = WaitingThread()
    let isWriter: Bool
  }

  /// The maximum number of connections in use.
  let capacity: Int
  /// The maximum number of them that are used to write.
  let writerCapacity: Int
  private let lock = NSLock()
  private var applicants: [Applicant] = []
  private var used = 0
  private var writers = 0

  init(capacity: Int, forWriting writerCapacity: Int) {
    (self.capacity, self.writerCapacity) = (capacity, writerCapacity)
  }

  /// The number of connections in use.
  var usedCount: Int { lock.withLock { used } }
  /// The number of threads that wait to write.
  var waitingWriterCount: Int { lock.withLock { applicants.count(where: \.isWriter) } }

  /// Waits for a connection.
  ///
  /// - Parameters:
  ///   - isToWrite: Whether it is to be used for writing. Canceling the running task then ends the wait.
  ///   - wait: Called when waiting begins; returns its limit.
  /// - Returns: `.goingOn` if the caller may use one until it calls ``leave(toWrite:)``, otherwise the reason why not.
  func enter(toWrite isToWrite: Bool, _ wait: () -> BoundedWait) -> BoundedWait.State {
    lock.lock()
    // No waiting thread could use the place: it would already have been admitted.
    if hasPlace(toWrite: isToWrite) {
      take(toWrite: isToWrite)
      lock.unlock()
      return .goingOn
    }
    let applicant = Applicant(isWriter: isToWrite)
    applicants.append(applicant)
    lock.unlock()

    let state = applicant.thread.wait(wait(), heedsCancellation: isToWrite)
    return state == .goingOn || !withdraw(applicant) ? .goingOn : state
  }

  /// Lets the next threads go on.
  ///
  /// - Parameter wasToWrite: As when the connection was granted.
  func leave(toWrite wasToWrite: Bool) {
    lock.withLock {
      used -= 1
      if wasToWrite { writers -= 1 }
      // The one that has waited longest goes first.
      while let next = applicants.firstIndex(where: { hasPlace(toWrite: $0.isWriter) }) {
        let applicant = applicants.remove(at: next)
        take(toWrite: applicant.isWriter)
        applicant.thread.admit()
      }
    }
  }

  private func hasPlace(toWrite isToWrite: Bool) -> Bool {
    used < capacity && (!isToWrite || writers < writerCapacity)
  }

  private func take(toWrite isToWrite: Bool) {
    used += 1
    if isToWrite { writers += 1 }
  }

  /// - Returns: False if the applicant was admitted before it could withdraw.
  private func withdraw(_ applicant: Applicant) -> Bool {
    lock.withLock {
      let place = applicants.firstIndex { $0.thread === applicant.thread }
      if let place { applicants.remove(at: place) }
      return place != nil
    }
  }
}
