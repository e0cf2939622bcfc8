#if canImport(FoundationNetworking) && canImport(Glibc)
  import Foundation
  import FoundationNetworking
  import Glibc
  import Persist
  import PersistSync
  import PersistTestSupport
  import Testing

  @testable import PersistSyncHTTP

  @Suite("Synchronization: connections that are cut")
  struct PlainConnectionTests {
    @Test("A response that is cut at any byte is an error, and a complete one is read in all forms")
    func cut() async throws {
      let fields = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: today\r\n"
      let responses = [
        fields + "Content-Length: 2\r\n\r\n[]",
        "HTTP/1.1 100 Continue\r\n\r\n" + fields
          + "Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1;x=y\r\n]\r\n0\r\n\r\n",
      ]
      for response in responses {
        let bytes = Data(response.utf8)
        for count in 0...bytes.count {
          let server = try RawServer { _ in bytes.prefix(count) }
          defer { server.stop() }
          let hub = HTTPHub(server.url, attempts: 1)
          if count == bytes.count {
            #expect(try await hub.positions().isEmpty)
          } else {
            let error = await #expect(throws: PersistenceError.self, "\(count)") { try await hub.positions() }
            #expect(error?.code == .serverFailed)
          }
        }
      }
      // The end of the connection is that of a response without a size.
      let server = try RawServer { _ in Data((fields + "\r\n[]").utf8) }
      defer { server.stop() }
      #expect(try await HTTPHub(server.url, attempts: 1).positions().isEmpty)
    }

    @Test("What isn't HTTP, and what is too large, is an error")
    func strange() async throws {
      for text in [
        "SSH-2.0-OpenSSH\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\n",
        String(repeating: "x", count: 99_999),
      ] {
        let server = try RawServer { _ in Data(text.utf8) }
        defer { server.stop() }
        let error = await #expect(throws: PersistenceError.self) {
          try await HTTPHub(server.url, attempts: 1).positions()
        }
        #expect(error?.code == .serverFailed)
      }
    }

    @Test("Two devices and a server become equal, although every third response is cut")
    func devices() async throws {
      try await withTemporaryFolder { folder in
        let model = try ManagedObjectModel(SyncModel.description)
        let hubServer = SyncHubServer(FolderHub(folder.appendingPathComponent("hub"))) {
          $0.headers["authorization"] == "Bearer me"
        }
        let random = LockProtected((random: SeededRandom(seed: 1), count: 0))
        let server = try RawServer { request in
          let response = Blocking.value { await hubServer.response(to: request) }
          var bytes = Data("HTTP/1.1 \(response.status) Text\r\nContent-Length: \(response.body.count)\r\n".utf8)
          for (name, value) in response.headers { bytes += Data("\(name): \(value)\r\n".utf8) }
          bytes += Data("\r\n".utf8) + (request.method == "HEAD" ? Data() : response.body)
          return random.withLock { state in
            state.count += 1
            return state.count % 3 == 0 ? bytes.prefix(Int.random(in: 0..<bytes.count, using: &state.random)) : bytes
          }
        }
        defer { server.stop() }
        let hub = HTTPHub(server.url, attempts: 8, pause: .milliseconds(1)) { ["Authorization": "Bearer me"] }
        let devices = try ["a", "b"].map {
          try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: SyncModel.identifiers)
        }
        for (number, device) in devices.enumerated() {
          let context = ManagedObjectContext(device.coordinator)
          for place in 0..<20 {
            let item = try context.create("Item")
            (item["id"], item["name"]) = (UUID(), "\(place) from \(number)")
            // A large value is sent by itself.
            if place == 0 { item["photo"] = Data((0..<200_000).map { UInt8($0 % 251) }) }
          }
          try context.save()
        }
        for device in devices + devices { try await device.replica.synchronize(with: hub) }
        #expect(try devices[0].contents() == devices[1].contents())
        #expect(try devices[0].contents().count == 40)
        _ = try await devices[0].replica.compact(hub, forgetting: .seconds(3600))
        for device in devices { try device.close() }
      }
    }

    @Test("A request ends after its time, although the server goes on answering")
    func slow() async throws {
      let bytes = Data("HTTP/1.1 200 OK\r\n\r\n".utf8)
      let server = try RawServer(pause: 0.05) { _ in bytes + Data(count: 10_000) }
      defer { server.stop() }
      let request = try #require(PlainRequest(URLRequest(url: server.url), within: 0.5))
      let error = await #expect(throws: NoResponse.self) { try await request.response() }
      #expect(error?.message == "It didn't answer in time.")
    }

    @Test("A request ends when its task is cancelled")
    func cancelled() async throws {
      let server = try RawServer { _ in
        sleep(5)
        return Data()
      }
      defer { server.stop() }
      let hub = HTTPHub(server.url, attempts: 3)
      let task = Task { try await hub.positions() }
      try await Task.sleep(for: .milliseconds(200))
      let begin = ContinuousClock.now
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      #expect(ContinuousClock.now - begin < .seconds(4))
    }
  }

  private enum Blocking {
    /// Waits for asynchronous work on a thread that has nothing else to do.
    static func value<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
      let result = LockProtected<Value?>(nil)
      let done = DispatchSemaphore(value: 0)
      Task {
        let value = await body()
        result.withLock { $0 = value }
        done.signal()
      }
      while true {
        done.wait()
        if let value = result.withLock({ $0 }) { return value }
      }
    }
  }

  /// A server that answers the request of each connection with bytes, and closes it.
  private final class RawServer: Sendable {
    let url: URL
    private let listener: Int32

    /// - Parameter pause: The time between the bytes of an answer in seconds; nil to send them at once.
    init(pause: TimeInterval? = nil, _ answer: @escaping @Sendable (SyncHubRequest) -> Data) throws {
      let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      var size = socklen_t(MemoryLayout<sockaddr_in>.size)
      let isBound = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(listener, $0, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &size) == 0
        }
      }
      try #require(isBound)
      self.listener = listener
      url = try #require(URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/hub"))
      Thread.detachNewThread {
        while true {
          let connection = accept(listener, nil, nil)
          guard connection >= 0 else { return }
          Thread.detachNewThread { Self.serve(connection, pause, answer) }
        }
      }
    }

    func stop() {
      shutdown(listener, Int32(SHUT_RDWR))
      close(listener)
    }

    private static func serve(_ connection: Int32, _ pause: TimeInterval?, _ answer: (SyncHubRequest) -> Data) {
      defer { close(connection) }
      var bytes = [UInt8]()
      var request: SyncHubRequest?
      while request == nil {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(connection, &part, part.count, 0)
        guard count > 0 else { return }
        bytes += part[..<count]
        request = complete(bytes)
      }
      guard let request else { return }
      var rest = [UInt8](answer(request))[...]
      while !rest.isEmpty {
        let size = pause == nil ? rest.count : 1
        let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, size, Int32(MSG_NOSIGNAL)) }
        if let pause { Thread.sleep(forTimeInterval: pause) }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }

    /// The request if it has arrived completely.
    private static func complete(_ bytes: [UInt8]) -> SyncHubRequest? {
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
      let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
      var headers: [String: String] = [:]
      for line in lines.dropFirst() {
        let pair = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        if pair.count == 2 { headers[pair[0].lowercased()] = pair[1] }
      }
      let body = bytes[end.upperBound...]
      guard body.count == Int(headers["content-length"] ?? "0") else { return nil }
      let words = (lines.first ?? "").split(separator: " ")
      guard words.count == 3 else { return nil }
      return SyncHubRequest(
        method: String(words[0]), path: String(words[1].dropFirst("/hub/".count)), headers: headers, body: Data(body))
    }
  }
#endif
