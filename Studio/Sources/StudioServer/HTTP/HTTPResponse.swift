import Foundation

/// An answer to a request.
struct HTTPResponse: Sendable {
  enum Body: Sendable {
    case data(Data)
    /// The closure returns the next piece, and nil at the end. The number of bytes is nil if it isn't known before.
    case pieces(count: Int?, next: @Sendable () async throws -> Data?)
  }

  var status: Int
  var fields: [(name: String, value: String)]
  var body: Body

  /// The way in which the client finds the end of the content.
  enum Framing {
    case length(Int)
    case chunks
    /// The end of the connection.
    case end
  }

  /// The first lines, before the content.
  func head(_ framing: Framing, isLast: Bool) -> Data {
    var lines = ["HTTP/1.1 \(status) \(Self.phrases[status] ?? "")"]
    lines += fields.map { "\($0.name): \(Self.legible($0.value))" }
    switch framing {
    case .length(let count): lines.append("Content-Length: \(count)")
    case .chunks: lines.append("Transfer-Encoding: chunked")
    case .end: break
    }
    if isLast { lines.append("Connection: close") }
    return Data((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// A value without characters that could end its line.
  private static func legible(_ value: String) -> String {
    String(String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
  }

  private static let phrases = [
    200: "OK", 303: "See Other", 400: "Bad Request", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    409: "Conflict", 413: "Content Too Large", 422: "Unprocessable Content", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
  ]
}
