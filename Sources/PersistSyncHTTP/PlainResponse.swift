#if canImport(FoundationNetworking) && !os(Windows)
  import Foundation

  /// A response that is read from its bytes as they arrive.
  struct PlainResponse {
    private static let maximumHeadSize = 64 << 10
    private static let maximumBodySize = 512 << 20

    /// The end of the body.
    private enum End {
      case size(Int), chunks, connection
    }

    /// The number of headers before that of the response itself, such as that which asks for the body.
    private static let maximumInterimCount = 16

    private let hasBody: Bool
    private var interimCount = 0
    private var rest: [UInt8] = []
    private var end: End?
    private(set) var status = 0
    private(set) var body = Data()
    private(set) var isComplete = false

    /// - Parameter hasBody: False for the response to a request for the header alone.
    init(hasBody: Bool) { self.hasBody = hasBody }

    private static var isCut: NoResponse { .init(message: "Its answer was cut off.") }
    private static var isInvalid: NoResponse { .init(message: "Its answer isn't HTTP.") }

    mutating func append(_ part: [UInt8]) throws {
      rest += part
      while end == nil, try readHead() {}
      guard end != nil, !isComplete else { return }
      try readBody()
    }

    /// Records that the connection was closed.
    mutating func close() throws {
      guard case .connection? = end else { throw Self.isCut }
      isComplete = true
    }

    /// - Returns: Whether a header was read, which may be followed by that of the response itself.
    private mutating func readHead() throws -> Bool {
      guard let length = rest.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else {
        guard rest.count <= Self.maximumHeadSize else { throw Self.isInvalid }
        return false
      }
      let lines = String(decoding: rest[..<length], as: UTF8.self).split(separator: "\r\n")
      rest.removeFirst(length)
      let parts = (lines.first ?? "").split(separator: " ", maxSplits: 2)
      guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]), (100..<600).contains(status)
      else { throw Self.isInvalid }
      if status < 200 {
        interimCount += 1
        guard interimCount <= Self.maximumInterimCount else { throw Self.isInvalid }
        return true
      }
      self.status = status
      var fields: [String: String] = [:]
      for line in lines.dropFirst() {
        let pair = line.split(separator: ":", maxSplits: 1)
        guard pair.count == 2 else { continue }
        fields[pair[0].lowercased()] = pair[1].trimmingCharacters(in: .whitespaces)
      }
      if !hasBody || status == 204 || status == 304 {
        end = .size(0)
      } else if fields["transfer-encoding"]?.lowercased().hasSuffix("chunked") == true {
        end = .chunks
      } else if let text = fields["content-length"] {
        guard let size = Int(text), size >= 0 else { throw Self.isInvalid }
        end = .size(size)
      } else {
        end = .connection
      }
      return true
    }

    private mutating func readBody() throws {
      switch end {
      case .size(let size):
        body += rest.prefix(size - body.count)
        rest = []
        isComplete = body.count == size
      case .chunks: try readChunks()
      case .connection:
        body += rest
        rest = []
      case nil: break
      }
      guard body.count <= Self.maximumBodySize else { throw NoResponse(message: "Its answer is too large.") }
    }

    private mutating func readChunks() throws {
      while !isComplete {
        guard let line = rest.firstRange(of: Array("\r\n".utf8)) else {
          guard rest.count <= Self.maximumHeadSize else { throw Self.isInvalid }
          return
        }
        let text = String(decoding: rest[..<line.lowerBound], as: UTF8.self).prefix { $0 != ";" }
        guard let size = Int(text.trimmingCharacters(in: .whitespaces), radix: 16), size >= 0,
          size <= Self.maximumBodySize
        else { throw Self.isInvalid }
        let end = line.upperBound + size + 2
        guard rest.count >= end else { return }
        body += rest[line.upperBound..<line.upperBound + size]
        rest.removeFirst(end)
        // Fields after the last chunk are of no interest.
        if size == 0 { isComplete = true }
      }
    }
  }
#endif
