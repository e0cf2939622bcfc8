import Dispatch
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
final class ProgramEnd: Sendable {
  private let signals: AsyncStream<Void>
  // Sendable: the sources are only created and canceled, and Dispatch's objects may be used on any thread.
  private nonisolated(unsafe) let sources: [any DispatchSourceSignal]

  /// Takes the signals over, so that they no longer kill the program.
  init() {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
    self.signals = signals
    sources = [SIGINT, SIGTERM, SIGHUP].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { continuation.yield() }
      source.resume()
      return source
    }
    // A connection that the client has closed is an error of the call, and not the end of the program.
    signal(SIGPIPE, SIG_IGN)
  }

  deinit {
    for source in sources { source.cancel() }
  }

  /// Waits for the first signal.
  func wait() async {
    for await _ in signals { return }
  }
}
