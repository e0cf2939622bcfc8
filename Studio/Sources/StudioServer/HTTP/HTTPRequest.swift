import Foundation

/// A request, as HTTP/1.1 transfers it.
struct HTTPRequest: Sendable {
  var head: HTTPRequestHead
  var body: Data

  var method: String { head.method }

  /// The part of the address before the question mark, as it was sent.
  var path: String { String(head.target.prefix { $0 != "?" }) }

  /// The part of the address after the question mark, as it was sent.
  var query: String { String(head.target.drop { $0 != "?" }.dropFirst()) }

  /// The values of a field's lines, in their order.
  ///
  /// - Parameter name: In lower-case letters.
  func values(_ name: String) -> [String] { head.values(name) }

  /// The value of a field; of several lines, the values with commas between them, as the protocol says.
  subscript(name: String) -> String? {
    let values = head.values(name)
    return values.isEmpty ? nil : values.joined(separator: ", ")
  }
}

/// The first lines of a request, before its content.
///
/// - SeeAlso: <https://www.rfc-editor.org/rfc/rfc9112>
struct HTTPRequestHead: Sendable {
  let method: String
  let target: String
  /// The names are in lower-case letters.
  private let fields: [(name: String, value: String)]
  /// Whether the connection can be used for another request.
  let isKeptAlive: Bool
  /// The number of bytes that follow.
  let contentLength: Int
  /// Whether the client waits for permission to send its content.
  let expectsPermission: Bool

  /// Parses the lines strictly: what different programs would understand differently is refused.
  ///
  /// - Parameter bytes: Everything before the empty line.
  /// - Throws: ``HTTPProblem``.
  init(_ bytes: some Collection<UInt8>) throws {
    // A line feed is a control character without the carriage return before it, and neither is allowed anywhere.
    let lines = String(decoding: bytes, as: UTF8.self).components(separatedBy: "\r\n")
    let parts = lines[0].components(separatedBy: " ")
    guard parts.count == 3, Self.isToken(parts[0]), parts[2].hasPrefix("HTTP/") else { throw HTTPProblem.malformed }
    guard ["HTTP/1.1", "HTTP/1.0"].contains(parts[2]) else { throw HTTPProblem.unknownVersion }
    guard parts[1].hasPrefix("/"), parts[1].utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw HTTPProblem.malformed
    }
    (method, target) = (parts[0], parts[1])
    fields = try lines.dropFirst().map(Self.field)

    let isCurrent = parts[2] == "HTTP/1.1"
    let fields = fields
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
    guard values("host").count == 1 || !isCurrent && values("host").isEmpty else { throw HTTPProblem.malformed }
    let options = values("connection").flatMap { $0.split(separator: ",") }.map { Self.trimmed($0).lowercased() }
    isKeptAlive = isCurrent && !options.contains("close")
    expectsPermission = isCurrent && values("expect").contains { $0.lowercased() == "100-continue" }
    guard values("transfer-encoding").isEmpty else { throw HTTPProblem.unknownEncoding }
    contentLength = try Self.length(values("content-length"))
  }

  func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  private static func field(_ line: String) throws -> (name: String, value: String) {
    guard let colon = line.firstIndex(of: ":"), case let name = String(line[..<colon]), isToken(name) else {
      throw HTTPProblem.malformed
    }
    let value = trimmed(line[line.index(after: colon)...])
    guard value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\t" }) else {
      throw HTTPProblem.malformed
    }
    return (name.lowercased(), value)
  }

  private static func length(_ values: [String]) throws -> Int {
    guard let value = values.first else { return 0 }
    // Programs that disagree about the length of a content would see different requests in it.
    guard values.count == 1, !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw HTTPProblem.malformed
    }
    guard let length = Int(value), length <= HTTPLimits.content else { throw HTTPProblem.contentTooLarge }
    return length
  }

  private static func isToken(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
      }
  }

  private static func trimmed(_ text: Substring) -> String {
    String(text.trimmingCharacters(in: CharacterSet(charactersIn: " \t")))
  }
}

/// The most that a request may contain.
enum HTTPLimits {
  /// The number of bytes of a request's first lines.
  static let head = 32 << 10
  /// The number of bytes of a request's content.
  static let content = 16 << 20
}

/// The reason for which a request can't be understood. The connection ends with the answer.
struct HTTPProblem: Error {
  let status: Int
  let words: String

  static let malformed = HTTPProblem(status: 400, words: "The request can't be understood.")
  static let contentTooLarge = HTTPProblem(status: 413, words: "The content of the request is too large.")
  static let headTooLarge = HTTPProblem(status: 431, words: "The first lines of the request are too long.")
  static let unknownEncoding = HTTPProblem(status: 501, words: "The content's encoding isn't supported.")
  static let unknownVersion = HTTPProblem(status: 505, words: "The versions of HTTP are 1.0 and 1.1.")
}
