import Foundation

/// The work of the current thread, as the processor time that it used: other processes don't count.
public enum ThreadWork {
  /// The processor time of a closure.
  ///
  /// - Throws: The closure's errors.
  public static func of(_ body: () throws -> Void) rethrows -> Duration {
    let before = now
    try body()
    return now - before
  }

  private static var now: Duration {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
