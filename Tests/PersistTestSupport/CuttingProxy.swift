public import Foundation
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A proxy between a program and a PostgreSQL server that counts the messages of their protocol, and cuts the
/// connection at one of them.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/protocol-message-formats.html>
public final class CuttingProxy: Sendable {
  public enum Direction: Sendable, CaseIterable {
    case toServer, toProgram
  }

  /// The message at which a connection is cut.
  public struct Cut: Sendable, Hashable, CustomStringConvertible {
    public let direction: Direction
    /// From 1, since the cut was set.
    public let message: Int
    /// Whether the message still arrives.
    public let isAfter: Bool
    /// Whether the server can't be reached from then on.
    public let isFinal: Bool

    public init(_ direction: Direction, _ message: Int, isAfter: Bool, isFinal: Bool = false) {
      (self.direction, self.message, self.isAfter, self.isFinal) = (direction, message, isAfter, isFinal)
    }

    public var description: String {
      "\(isAfter ? "after" : "before") message \(message) \(direction)\(isFinal ? ", for good" : "")"
    }
  }

  private struct State {
    var counts: [Direction: Int] = [:]
    var cut: Cut?
    var hasCut = false
    var isClosed = false
    var isRefusing = false
  }

  private let state = Mutex(State())
  private let listener: Int32
  private let port: UInt16
  private let serverPort: UInt16

  /// - Parameter serverPort: The server's port on the loopback address.
  public init(toPort serverPort: UInt16) throws {
    self.serverPort = serverPort
    (listener, port) = try Self.listen()
    Self.start("Proxy") { self.accept() }
  }

  /// - Returns: A socket that listens, and its port.
  private static func listen() throws -> (Int32, UInt16) {
    let listener = socket(AF_INET, stream, 0)
    guard listener >= 0 else { throw POSIXError(.ENFILE) }
    var address = address(port: 0)
    let bound = withPointer(&address) { bind(listener, $0, $1) }
    guard bound == 0, systemListen(listener) == 0 else { throw POSIXError(.EADDRINUSE) }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let named = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
    }
    guard named == 0 else { throw POSIXError(.EINVAL) }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// A URL with this proxy in place of the server.
  public func url(for server: URL) -> URL {
    var parts = URLComponents(url: server, resolvingAgainstBaseURL: false) ?? URLComponents()
    parts.port = Int(port)
    // The first bytes of other connections are no messages.
    parts.queryItems = (parts.queryItems ?? []) + [
      URLQueryItem(name: "sslmode", value: "disable"), URLQueryItem(name: "gssencmode", value: "disable"),
    ]
    return parts.url ?? server
  }

  public func close() {
    state.withLock { $0.isClosed = true }
    shutdown(listener, Int32(SHUT_RDWR))
    Self.closeSocket(listener)
  }

  // MARK: Counting and cutting

  /// Counts from now on, and cuts the connection at a message; nil to let everything pass.
  public func cut(at cut: Cut?) {
    state.withLock { $0 = State(cut: cut, isClosed: $0.isClosed) }
  }

  /// The number of messages in a direction since the last call of ``cut(at:)``.
  public func count(_ direction: Direction) -> Int { state.withLock { $0.counts[direction] ?? 0 } }
  /// Whether the message came at which the connection was to be cut.
  public var hasCut: Bool { state.withLock { $0.hasCut } }

  private enum Verdict { case pass, passAndCut, cut }

  private func verdict(_ direction: Direction) -> Verdict {
    state.withLock { state in
      let number = (state.counts[direction] ?? 0) + 1
      state.counts[direction] = number
      guard let cut = state.cut, cut.direction == direction, cut.message == number else { return .pass }
      state.hasCut = true
      state.isRefusing = cut.isFinal
      return cut.isAfter ? .passAndCut : .cut
    }
  }

  // MARK: Connections

  private func accept() {
    while true {
      let client = Self.acceptConnection(listener)
      guard client >= 0 else { return }
      let server = state.withLock { $0.isRefusing || $0.isClosed } ? -1 : connectToServer()
      guard server >= 0 else {
        Self.closeSocket(client)
        continue
      }
      Self.sendAtOnce(client)
      let link = Link(client, server)
      Self.start("Proxy to server") { self.forward(link, .toServer) }
      Self.start("Proxy to program") { self.forward(link, .toProgram) }
    }
  }

  /// Lets a socket send each message when it is written, without waiting for the receipt of the one before.
  private static func sendAtOnce(_ socket: Int32) {
    var on: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  private func connectToServer() -> Int32 {
    let server = socket(AF_INET, Self.stream, 0)
    var address = Self.address(port: serverPort)
    guard Self.withPointer(&address, { connect(server, $0, $1) }) == 0 else {
      Self.closeSocket(server)
      return -1
    }
    Self.sendAtOnce(server)
    return server
  }

  /// The two sockets of a connection, which the second of its two threads closes.
  private final class Link: Sendable {
    let client: Int32
    let server: Int32
    private let ended = Atomic(0)

    init(_ client: Int32, _ server: Int32) { (self.client, self.server) = (client, server) }

    /// Ends both connections. What was written before still arrives.
    func cut() {
      shutdown(server, Int32(SHUT_RDWR))
      shutdown(client, Int32(SHUT_RDWR))
    }

    func end() {
      cut()
      if ended.add(1, ordering: .acquiringAndReleasing).newValue == 2 {
        CuttingProxy.closeSocket(server)
        CuttingProxy.closeSocket(client)
      }
    }
  }

  private func forward(_ link: Link, _ direction: Direction) {
    defer { link.end() }
    let (source, target) = direction == .toServer ? (link.client, link.server) : (link.server, link.client)
    var messages = Messages(hasStart: direction == .toServer)
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      messages.append(buffer[..<count])
      while let message = messages.next() {
        let verdict = verdict(direction)
        if verdict == .cut { return }
        guard Self.sendAll(message, to: target) else { return }
        if verdict == .passAndCut { return }
      }
    }
  }

  /// Divides a stream of bytes into messages.
  private struct Messages {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Whether the next message is a program's first, which has no type.
    private var hasStart: Bool

    init(hasStart: Bool) { self.hasStart = hasStart }

    mutating func append(_ new: ArraySlice<UInt8>) {
      if start > 0 {
        bytes.removeFirst(start)
        start = 0
      }
      bytes += new
    }

    mutating func next() -> ArraySlice<UInt8>? {
      let prefix = hasStart ? 0 : 1
      guard bytes.count - start >= prefix + 4 else { return nil }
      let length = bytes[start + prefix..<start + prefix + 4].reduce(0) { $0 << 8 | Int($1) }
      guard bytes.count - start >= prefix + length else { return nil }
      defer {
        start += prefix + length
        hasStart = false
      }
      return bytes[start..<start + prefix + length]
    }
  }

  // MARK: The system's calls

  #if canImport(Darwin)
    private static let stream = SOCK_STREAM
    private static func closeSocket(_ handle: Int32) { _ = Darwin.close(handle) }
    private static func systemListen(_ handle: Int32) -> Int32 { Darwin.listen(handle, 16) }
    private static func acceptConnection(_ handle: Int32) -> Int32 { Darwin.accept(handle, nil, nil) }
    private static let flags: Int32 = 0
  #elseif canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue)
    private static func closeSocket(_ handle: Int32) { _ = Glibc.close(handle) }
    private static func systemListen(_ handle: Int32) -> Int32 { Glibc.listen(handle, 16) }
    private static func acceptConnection(_ handle: Int32) -> Int32 { Glibc.accept(handle, nil, nil) }
    // A connection that the other side ended is no signal.
    private static let flags = Int32(MSG_NOSIGNAL)
  #else
    private static let stream = Int32(SOCK_STREAM)
    private static func closeSocket(_ handle: Int32) { _ = Musl.close(handle) }
    private static func systemListen(_ handle: Int32) -> Int32 { Musl.listen(handle, 16) }
    private static func acceptConnection(_ handle: Int32) -> Int32 { Musl.accept(handle, nil, nil) }
    private static let flags = Int32(MSG_NOSIGNAL)
  #endif

  private static func sendAll(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(target, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  private static func address(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  private static func withPointer(
    _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  private static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.name = name
    thread.start()
  }
}
