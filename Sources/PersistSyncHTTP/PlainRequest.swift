#if canImport(FoundationNetworking) && !os(Windows)
  import Foundation
  import FoundationNetworking
  import Persist

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// A request over a connection of its own, without encryption.
  ///
  /// `URLSession` of the open-source Foundation ends the whole program if a connection is closed within the header of a
  /// response ("Transfer completed, but there's no response"). An encrypted connection that is cut isn't closed
  /// properly, which is an error there, too.
  struct PlainRequest: Sendable {
    private let url: URL
    private let host: String
    private let bytes: Data
    private let hasBody: Bool
    private let timeout: TimeInterval
    private let socket = OpenSocket()

    /// Nil for a request that needs more than a plain connection.
    init?(_ request: URLRequest) {
      let environment = ProcessInfo.processInfo.environment
      guard let url = request.url, url.scheme?.lowercased() == "http", let host = url.host(), url.user == nil,
        ["http_proxy", "all_proxy", "ALL_PROXY"].allSatisfy({ environment[$0]?.isEmpty != false })
      else { return nil }
      let method = request.httpMethod ?? "GET"
      let path = url.path(percentEncoded: true) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
      var fields = request.allHTTPHeaderFields ?? [:]
      for name in fields.keys where ["host", "connection", "content-length"].contains(name.lowercased()) {
        fields[name] = nil
      }
      let body = request.httpBody ?? Data()
      let name = host.contains(":") ? "[\(host)]" : host
      var head = "\(method) \(path.isEmpty ? "/" : path) HTTP/1.1\r\nHost: \(name)"
      if let port = url.port { head += ":\(port)" }
      head += "\r\nConnection: close\r\n"
      if !body.isEmpty || ["POST", "PUT"].contains(method) { head += "Content-Length: \(body.count)\r\n" }
      for (name, value) in fields {
        // A line break would begin another field.
        guard !(name + value).contains(where: \.isNewline) else { return nil }
        head += "\(name): \(value)\r\n"
      }
      (self.url, self.host, bytes, hasBody) = (url, host, Data((head + "\r\n").utf8) + body, method != "HEAD")
      timeout = request.timeoutInterval
    }

    /// Sends the request.
    ///
    /// - Returns: The complete response.
    /// - Throws: ``NoResponse``; `CancellationError` if the task is cancelled.
    func response() async throws -> (status: Int, data: Data) {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          DispatchQueue.global().async { continuation.resume(with: Result { try exchange() }) }
        }
      } onCancel: {
        socket.cancel()
      }
    }

    private func exchange() throws -> (status: Int, data: Data) {
      defer { socket.close() }
      do {
        try connect()
        try send()
        var response = PlainResponse(hasBody: hasBody)
        while !response.isComplete {
          let part = try receive()
          if part.isEmpty { try response.close() } else { try response.append(part) }
        }
        return (response.status, response.body)
      } catch {
        if socket.isCancelled { throw CancellationError() }
        throw error
      }
    }

    private func connect() throws {
      var hints = addrinfo()
      #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
      #else
        hints.ai_socktype = Int32(SOCK_STREAM)
      #endif
      var found: UnsafeMutablePointer<addrinfo>?
      guard getaddrinfo(host, "\(url.port ?? 80)", &hints, &found) == 0 else {
        throw NoResponse(message: "Its name can't be resolved.")
      }
      defer { freeaddrinfo(found) }
      var isLate = false
      for address in sequence(first: found, next: { $0?.pointee.ai_next }) {
        guard let address = address?.pointee else { break }
        guard try socket.open(address.ai_family, address.ai_socktype, timeout) else { continue }
        if socket.connect(address) { return }
        isLate = errno == EINPROGRESS || errno == ETIMEDOUT
        socket.close()
      }
      throw NoResponse(message: isLate ? "It didn't answer in time." : "Nothing accepts connections there.")
    }

    private func send() throws {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { socket.send($0) }
        guard count > 0 else { throw NoResponse(message: Self.words(errno)) }
        rest = rest.dropFirst(count)
      }
    }

    private func receive() throws -> [UInt8] {
      var part = [UInt8](repeating: 0, count: 1 << 16)
      let count = part.withUnsafeMutableBytes { socket.receive($0) }
      guard count >= 0 else { throw NoResponse(message: Self.words(errno)) }
      part.removeLast(part.count - count)
      return part
    }

    private static func words(_ code: Int32) -> String {
      code == EAGAIN ? "It didn't answer in time." : "The connection was lost."
    }
  }

  /// A socket that another thread may interrupt.
  private final class OpenSocket: Sendable {
    private struct State: Sendable {
      var handle: Int32 = -1
      var isCancelled = false
    }

    private let state = LockProtected(State())

    private var handle: Int32 { state.withLock(\.handle) }
    var isCancelled: Bool { state.withLock(\.isCancelled) }

    /// - Returns: False if the system has no such sockets.
    func open(_ family: Int32, _ type: Int32, _ timeout: TimeInterval) throws -> Bool {
      try state.withLock { state in
        if state.isCancelled { throw CancellationError() }
        state.handle = socket(family, type, 0)
        guard state.handle >= 0 else { return false }
        var limit = timeval()
        limit.tv_sec = .init(max(1, min(timeout, 3600)))
        let size = socklen_t(MemoryLayout<timeval>.size)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] { setsockopt(state.handle, SOL_SOCKET, option, &limit, size) }
        return true
      }
    }

    func connect(_ address: addrinfo) -> Bool {
      #if canImport(Glibc)
        Glibc.connect(handle, address.ai_addr, address.ai_addrlen) == 0
      #elseif canImport(Musl)
        Musl.connect(handle, address.ai_addr, address.ai_addrlen) == 0
      #else
        Android.connect(handle, address.ai_addr, address.ai_addrlen) == 0
      #endif
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int {
      #if canImport(Glibc)
        Glibc.send(handle, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      #elseif canImport(Musl)
        Musl.send(handle, bytes.baseAddress, bytes.count, MSG_NOSIGNAL)
      #else
        bytes.baseAddress.map { Android.send(handle, $0, bytes.count, Int32(MSG_NOSIGNAL)) } ?? 0
      #endif
    }

    func receive(_ bytes: UnsafeMutableRawBufferPointer) -> Int { recv(handle, bytes.baseAddress, bytes.count, 0) }

    func cancel() {
      state.withLock { state in
        state.isCancelled = true
        if state.handle >= 0 { _ = shutdown(state.handle, Int32(SHUT_RDWR)) }
      }
    }

    func close() {
      state.withLock { state in
        guard state.handle >= 0 else { return }
        #if canImport(Glibc)
          _ = Glibc.close(state.handle)
        #elseif canImport(Musl)
          _ = Musl.close(state.handle)
        #else
          _ = Android.close(state.handle)
        #endif
        state.handle = -1
      }
    }
  }

  /// A response that is read from its bytes as they arrive.
  struct PlainResponse {
    private static let maximumHeadSize = 64 << 10
    private static let maximumBodySize = 512 << 20

    /// The end of the body.
    private enum End {
      case size(Int), chunks, connection
    }

    private let hasBody: Bool
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
      if status < 200 { return true }
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
      while !isComplete, let line = rest.firstRange(of: Array("\r\n".utf8)) {
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
