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
  /// response ("Transfer completed, but there's no response"). Over TLS, it reports a cut connection as an error.
  struct PlainRequest: Sendable {
    private let url: URL
    private let host: String
    private let bytes: Data
    private let hasBody: Bool
    private let timeout: TimeInterval
    private let limit: TimeInterval
    private let socket = OpenSocket()

    /// The time after which no server goes on answering, in seconds: the limit of a single wait is the request's.
    static let limit: TimeInterval = 3600

    /// Nil for a request that needs more than a plain connection.
    ///
    /// - Parameter limit: The maximum time of the whole request in seconds.
    init?(_ request: URLRequest, within limit: TimeInterval = Self.limit) {
      self.limit = limit
      let environment = ProcessInfo.processInfo.environment
      guard let url = request.url, url.scheme?.lowercased() == "http", let host = url.host(), url.user == nil,
        ["http_proxy", "all_proxy", "ALL_PROXY"].allSatisfy({ environment[$0]?.isEmpty != false })
      else { return nil }
      let method = request.httpMethod ?? "GET"
      let path = url.path(percentEncoded: true) + (url.query(percentEncoded: true).map { "?\($0)" } ?? "")
      var fields = request.allHTTPHeaderFields ?? [:]
      for name in fields.keys {
        if name.lowercased() == "host" { return nil }
        if ["connection", "content-length"].contains(name.lowercased()) { fields[name] = nil }
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
      let end = DispatchWorkItem { socket.expire() }
      DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: end)
      defer {
        end.cancel()
        socket.close()
      }
      do {
        try connect()
        // A server may refuse a request, and close the connection, before it has read all of it.
        let sending = Result { try send() }
        do {
          return try receiveResponse()
        } catch {
          try sending.get()
          throw error
        }
      } catch {
        if socket.isCancelled { throw CancellationError() }
        if socket.isLate { throw NoResponse(message: "It didn't answer in time.") }
        throw error
      }
    }

    private func receiveResponse() throws -> (status: Int, data: Data) {
      var response = PlainResponse(hasBody: hasBody)
      while !response.isComplete {
        let part = try receive()
        if part.isEmpty { try response.close() } else { try response.append(part) }
      }
      return (response.status, response.body)
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
      // The end of an interrupted connection isn't that of a response.
      guard count >= 0, !socket.isCancelled, !socket.isLate else { throw NoResponse(message: Self.words(errno)) }
      part.removeLast(part.count - count)
      return part
    }

    private static func words(_ code: Int32) -> String {
      code == EAGAIN ? "It didn't answer in time." : "The connection was lost."
    }
  }
#endif
