import Dispatch
import Foundation

/// A server of HTTP/1.1 for the browsers of one person: on the loopback interface, with a thread for each connection.
///
/// The protocol is small enough to be written out here. A library of servers would be twenty packages that everyone who
/// opens the studio would have to download and compile.
struct HTTPServer {
  private let listener: StreamSocket
  private let end: ProgramEnd
  /// The port that the server is bound to.
  let port: Int

  /// The most connections at a time. Browsers use six for each page; others wait.
  private static let connectionLimit = 128

  /// Binds a port.
  ///
  /// - Parameter port: The port; 0 for a free one.
  /// - Throws: `POSIXError`.
  init(port: Int) throws {
    listener = try StreamSocket.listening(on: port)
    self.port = try listener.port()
    // Before anybody knows that the program has started.
    end = try ProgramEnd()
  }

  /// Serves until the program is told to end.
  func run(_ responder: any HTTPResponder) async {
    let listener = listener
    let places = DispatchSemaphore(value: Self.connectionLimit)
    Thread.detachNewThread {
      while true {
        places.wait()
        guard let socket = try? listener.accept() else {
          // The system has no more files, for the moment.
          places.signal()
          Thread.sleep(forTimeInterval: 0.1)
          continue
        }
        Thread.detachNewThread {
          HTTPConnection(socket: socket, responder: responder).serve()
          places.signal()
        }
      }
    }
    await end.wait()
  }
}
