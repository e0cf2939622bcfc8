import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The end of the program, of which signals tell: Control-C, and the end of the terminal or of the service.
///
/// A source of Dispatch begins to count some time after it was resumed, and misses a signal that comes before. A handler
/// that writes to a pipe misses none.
final class ProgramEnd: Sendable {
  private let signals: AsyncStream<Void>

  /// Takes the signals over, so that they no longer kill the program.
  ///
  /// - Throws: An error of the system if there is no pipe.
  init() throws {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    self.signals = signals
    let readingEnd = ends[0]
    signalEnd = ends[1]
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { _ in
        // Only functions that are allowed in a handler: https://man7.org/linux/man-pages/man7/signal-safety.7.html
        var byte: UInt8 = 1
        _ = write(signalEnd, &byte, 1)
      }
    }
    // A connection that the client has closed is an error of the call, and not the end of the program.
    signal(SIGPIPE, SIG_IGN)
    Thread.detachNewThread {
      var byte: UInt8 = 0
      while read(readingEnd, &byte, 1) < 0, errno == EINTR {}
      continuation.yield()
    }
  }

  /// Waits for the first signal.
  func wait() async {
    for await _ in signals { return }
  }
}

/// The end of the pipe to which the signals' handler writes.
// Unsafe: written before the handler exists, and only read afterward.
private nonisolated(unsafe) var signalEnd: Int32 = -1
