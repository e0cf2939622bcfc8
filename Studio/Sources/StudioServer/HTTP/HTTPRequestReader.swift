import Foundation

/// Reads the requests of a connection, one after another.
struct HTTPRequestReader {
  private let connection: StreamSocket
  /// The bytes that were received and don't belong to a request that was returned.
  private var received: [UInt8] = []

  init(_ connection: StreamSocket) { self.connection = connection }

  /// Waits for the next request.
  ///
  /// - Returns: Nil if the client has closed the connection, or was silent for too long.
  /// - Throws: ``HTTPProblem``, or an error of the system.
  mutating func next() throws -> HTTPRequest? {
    guard let end = try endOfHead() else { return nil }
    let head = try HTTPRequestHead(received[..<end])
    received.removeFirst(end + Self.emptyLine.count)
    if head.expectsPermission, head.contentLength > received.count {
      try connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    while received.count < head.contentLength {
      guard try receive() else { return nil }
    }
    let body = Data(received.prefix(head.contentLength))
    received.removeFirst(head.contentLength)
    return HTTPRequest(head: head, body: body)
  }

  private static let emptyLine = Array("\r\n\r\n".utf8)

  /// - Returns: The number of bytes before the next empty line; nil at the end of the connection.
  private mutating func endOfHead() throws -> Int? {
    var searched = 0
    while true {
      // Some clients send an empty line after a content.
      while searched == 0, received.starts(with: Self.emptyLine.prefix(2)) { received.removeFirst(2) }
      let last = received.count - Self.emptyLine.count
      if searched <= last {
        for start in searched...last where received[start...].starts(with: Self.emptyLine) {
          guard start <= HTTPLimits.head else { throw HTTPProblem.headTooLarge }
          return start
        }
        searched = last + 1
      }
      guard received.count <= HTTPLimits.head else { throw HTTPProblem.headTooLarge }
      guard try receive() else { return nil }
    }
  }

  /// - Returns: False at the end of the connection.
  private mutating func receive() throws -> Bool {
    let bytes = try connection.read(atMost: 64 << 10)
    received += bytes
    return !bytes.isEmpty
  }
}
