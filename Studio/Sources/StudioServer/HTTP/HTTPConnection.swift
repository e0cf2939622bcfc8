import Dispatch
import Foundation
import Persist

/// Answers requests, and explains why others can't be understood.
protocol HTTPResponder: Sendable {
  func respond(to request: HTTPRequest) async -> HTTPResponse
  func respond(to problem: HTTPProblem) -> HTTPResponse
}

/// A connection of a client, served on a thread that may block.
struct HTTPConnection {
  let socket: StreamSocket
  let responder: any HTTPResponder

  /// Answers requests until either side ends the connection.
  func serve() {
    var reader = HTTPRequestReader(socket)
    do {
      while let request = try reader.next() {
        let responder = responder
        let response = try Self.waiting { await responder.respond(to: request) }
        guard try send(response, to: request) else { break }
      }
    } catch let problem as HTTPProblem {
      let response = responder.respond(to: problem)
      if case .data(let content) = response.body {
        try? socket.write(response.head(.length(content.count), isLast: true) + content)
      }
    } catch {
      // The client is gone, or the content of an answer couldn't be read: an incomplete answer tells the client.
    }
    socket.finish()
  }

  /// - Returns: Whether the connection can be used for another request.
  private func send(_ response: HTTPResponse, to request: HTTPRequest) throws -> Bool {
    let isKeptAlive = request.head.isKeptAlive
    let isHead = request.method == "HEAD"
    switch response.body {
    case .data(let content):
      let head = response.head(.length(content.count), isLast: !isKeptAlive)
      try socket.write(isHead ? head : head + content)
      return isKeptAlive
    case .pieces(let count, let next):
      // Clients of the old version know no chunks.
      let framing = count.map(HTTPResponse.Framing.length) ?? (isKeptAlive ? .chunks : .end)
      try socket.write(response.head(framing, isLast: !isKeptAlive))
      var sent = 0
      while !isHead, let piece = try Self.waiting(next) {
        guard !piece.isEmpty else { continue }
        sent += piece.count
        switch framing {
        case .chunks: try socket.write(Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8))
        case .length(let count) where sent > count: return false
        case .length, .end: try socket.write(piece)
        }
      }
      if !isHead, case .chunks = framing { try socket.write(Data("0\r\n\r\n".utf8)) }
      return isKeptAlive && (isHead || count == nil || sent == count)
    }
  }

  /// Waits for asynchronous work on this thread, which isn't one of Swift's tasks.
  private static func waiting<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) throws -> Value {
    let (result, done) = (LockProtected<Result<Value, any Error>?>(nil), DispatchSemaphore(value: 0))
    Task {
      let outcome: Result<Value, any Error>
      do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
      result.withLock { $0 = outcome }
      done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { throw CancellationError() }
    return try outcome.get()
  }
}
