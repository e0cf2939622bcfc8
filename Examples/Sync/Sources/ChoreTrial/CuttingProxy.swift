import NIOCore
import NIOPosix
import Synchronization

/// A connection between devices and the server that is cut at any byte and at any moment, and sometimes is dead.
final class CuttingProxy: Sendable {
  private struct Cut: Error {}
  private typealias Connection = NIOAsyncChannel<ByteBuffer, ByteBuffer>

  private let serverPort: Int
  private let listener: NIOAsyncChannel<Connection, Never>
  private let isCutting = Mutex(true)
  private let cutCount = Atomic(0)

  /// The port to which devices connect.
  let port: Int
  var cuts: Int { cutCount.load(ordering: .relaxed) }

  init(serverPort: Int) async throws {
    self.serverPort = serverPort
    listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .bind(host: "127.0.0.1", port: 0, childChannelInitializer: Self.wrap)
    port = listener.channel.localAddress?.port ?? 0
  }

  private static func wrap(_ channel: any Channel) -> EventLoopFuture<Connection> {
    channel.eventLoop.makeCompletedFuture { try Connection(wrappingChannelSynchronously: channel) }
  }

  /// Leaves connections alone from now on.
  func becomeReliable() { isCutting.withLock { $0 = false } }

  /// Relays connections until the task is cancelled.
  func run() async throws {
    try await listener.executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await connection in connections {
          group.addTask {
            // Each end sees a closed connection, whatever the reason.
            do { try await self.relay(connection) } catch {}
          }
        }
      }
    }
  }

  private func relay(_ device: Connection) async throws {
    try await device.executeThenClose { fromDevice, toDevice in
      let server = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .connect(host: "127.0.0.1", port: serverPort, channelInitializer: Self.wrap)
      try await server.executeThenClose { fromServer, toServer in
        try await withThrowingTaskGroup(of: Void.self) { group in
          let isCut = isCutting.withLock { $0 } && Int.random(in: 0..<6) == 0
          let limits = (0..<2).map { _ in isCut && Int.random(in: 0..<4) > 0 ? Int.random(in: 0..<600) : Int.max }
          group.addTask { try await self.copy(fromDevice, toServer, upTo: limits[0]) }
          group.addTask { try await self.copy(fromServer, toDevice, upTo: limits[1]) }
          if isCut {
            group.addTask {
              try await Task.sleep(for: .milliseconds(Int.random(in: 0..<200)))
              self.cutCount.add(1, ordering: .relaxed)
            }
          }
          // A cut, or the end of either side, is the end of both.
          defer { group.cancelAll() }
          try await group.next()
        }
      }
    }
  }

  /// Copies bytes until the end, or until a limit is reached in the middle of them.
  private func copy(
    _ source: NIOAsyncChannelInboundStream<ByteBuffer>, _ sink: NIOAsyncChannelOutboundWriter<ByteBuffer>,
    upTo limit: Int
  ) async throws {
    var left = limit
    for try await var bytes in source {
      if isCutting.withLock({ $0 }), Int.random(in: 0..<300) == 0 {
        try await Task.sleep(for: .milliseconds(Int.random(in: 0..<1500)))
      }
      guard bytes.readableBytes <= left else {
        if let first = bytes.readSlice(length: left) { try await sink.write(first) }
        cutCount.add(1, ordering: .relaxed)
        throw Cut()
      }
      left -= bytes.readableBytes
      try await sink.write(bytes)
    }
  }
}
