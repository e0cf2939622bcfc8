import Foundation

/// Passes bytes between a program and a server, each way with a delay, as a network does.
///
/// `@unchecked Sendable`: the address and the delay don't change, and each thread has its own sockets.
final class DelayProxy: @unchecked Sendable {
  let port: UInt16
  private let listener: Int32
  private let target: UInt16
  private let delay: TimeInterval

  /// - Parameters:
  ///   - target: The server's port on this machine.
  ///   - delay: The time that each way takes, in seconds.
  init(to target: UInt16, delay: TimeInterval) throws {
    self.target = target
    self.delay = delay
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &length) == 0
      }
    }
    guard isBound else { throw BenchmarkError("The proxy can't listen.") }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    Thread.detachNewThread { [self] in accept() }
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    return address
  }

  private func accept() {
    while true {
      let client = Foundation.accept(listener, nil, nil)
      guard client >= 0 else { return }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.loopback(port: target)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else {
        close(client)
        continue
      }
      pass(from: client, to: server)
      pass(from: server, to: client)
    }
  }

  /// Bytes that arrive while others are on their way aren't delayed by these.
  private func pass(from source: Int32, to destination: Int32) {
    var on: Int32 = 1
    setsockopt(destination, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    let line = DeliveryLine()
    Thread.detachNewThread { [delay] in
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while true {
        let count = read(source, &buffer, buffer.count)
        line.put(count > 0 ? Array(buffer.prefix(count)) : nil, at: Date().addingTimeInterval(delay))
        if count <= 0 { return }
      }
    }
    Thread.detachNewThread {
      while let (bytes, time) = line.take() {
        Thread.sleep(until: time)
        var start = 0
        while start < bytes.count {
          let count = bytes.withUnsafeBytes { write(destination, $0.baseAddress.map { $0 + start }, bytes.count - start) }
          if count <= 0 { break }
          start += count
        }
      }
      shutdown(destination, Int32(SHUT_WR))
    }
  }

  /// Bytes on their way, with the time of their arrival.
  ///
  /// `@unchecked Sendable`: the condition protects the queue.
  private final class DeliveryLine: @unchecked Sendable {
    private let condition = NSCondition()
    private var queue: [(bytes: [UInt8]?, time: Date)] = []

    func put(_ bytes: [UInt8]?, at time: Date) {
      condition.lock()
      queue.append((bytes, time))
      condition.signal()
      condition.unlock()
    }

    /// Nil at the end.
    func take() -> (bytes: [UInt8], time: Date)? {
      condition.lock()
      defer { condition.unlock() }
      while queue.isEmpty { condition.wait() }
      let first = queue.removeFirst()
      return first.bytes.map { ($0, first.time) }
    }
  }
}
