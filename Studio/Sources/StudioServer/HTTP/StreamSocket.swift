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

/// A connection of TCP, or a listener for connections, closed at the end of the object's life.
final class StreamSocket: Sendable {
  private let handle: Int32

  private init(_ handle: Int32) { self.handle = handle }

  deinit { close(handle) }

  // MARK: Listening

  /// Listens on the loopback interface, which other machines can't reach.
  ///
  /// - Parameter port: The port; 0 for a free one.
  /// - Throws: `POSIXError`.
  static func listening(on port: Int) throws -> StreamSocket {
    #if canImport(Glibc) && os(Linux)
      let type = Int32(SOCK_STREAM.rawValue)
    #else
      let type = SOCK_STREAM
    #endif
    let listener = StreamSocket(try check(socket(AF_INET, type, 0)))
    _ = fcntl(listener.handle, F_SETFD, FD_CLOEXEC)
    // A port whose last connections ended a moment ago.
    listener.set(SOL_SOCKET, SO_REUSEADDR, Int32(1))
    var address = loopback(port)
    let bound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener.handle, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try check(bound)
    try check(listen(listener.handle, 128))
    return listener
  }

  private static func loopback(_ port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(truncatingIfNeeded: port).bigEndian
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    return address
  }

  /// The port that a listener is bound to.
  func port() throws -> Int {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let found = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(handle, $0, &size) }
    }
    try Self.check(found)
    return Int(in_port_t(bigEndian: address.sin_port))
  }

  /// Waits for the next connection.
  ///
  /// - Throws: `POSIXError`.
  func accept() throws -> StreamSocket {
    while true {
      #if canImport(Glibc)
        let accepted = Glibc.accept(handle, nil, nil)
      #elseif canImport(Musl)
        let accepted = Musl.accept(handle, nil, nil)
      #elseif canImport(Android)
        let accepted = Android.accept(handle, nil, nil)
      #else
        let accepted = Darwin.accept(handle, nil, nil)
      #endif
      if accepted < 0, [EINTR, ECONNABORTED].contains(errno) { continue }
      let connection = StreamSocket(try Self.check(accepted))
      _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
      connection.set(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
      connection.set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: Self.longestSilence, tv_usec: 0))
      return connection
    }
  }

  // MARK: Transferring

  /// The time in seconds after which a silent client counts as gone.
  private static let longestSilence = 600

  /// Waits for bytes.
  ///
  /// - Returns: No bytes at the end of the connection, or after the longest silence.
  /// - Throws: `POSIXError`.
  func read(atMost count: Int) throws -> [UInt8] {
    try [UInt8](unsafeUninitializedCapacity: count) { buffer, received in
      while true {
        let result = recv(handle, buffer.baseAddress, count, 0)
        if result < 0, errno == EINTR { continue }
        if result < 0, errno == EAGAIN || errno == EWOULDBLOCK { return }
        received = Int(try Self.check(result))
        return
      }
    }
  }

  /// Sends all of the bytes.
  ///
  /// - Throws: `POSIXError` if the client is gone.
  func write(_ bytes: some ContiguousBytes) throws {
    try bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while !rest.isEmpty {
        let sent = send(handle, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count, 0)
        if sent < 0, errno == EINTR { continue }
        rest = rest.dropFirst(Int(try Self.check(sent)))
      }
    }
  }

  /// Ends the connection in such a way that the client can still read what was sent: a connection that is closed with
  /// unread bytes is reset.
  func finish() {
    guard shutdown(handle, Int32(SHUT_WR)) == 0 else { return }
    set(SOL_SOCKET, SO_RCVTIMEO, timeval(tv_sec: 1, tv_usec: 0))
    for _ in 0..<64 {
      guard let bytes = try? read(atMost: 64 << 10), !bytes.isEmpty else { return }
    }
  }

  // MARK: The system's calls

  /// A setting that the system doesn't accept keeps its default.
  private func set<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
    _ = withUnsafeBytes(of: value) { setsockopt(handle, level, option, $0.baseAddress, socklen_t($0.count)) }
  }

  @discardableResult
  private static func check<Result: SignedInteger>(_ result: Result) throws -> Result {
    guard result >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    return result
  }
}
