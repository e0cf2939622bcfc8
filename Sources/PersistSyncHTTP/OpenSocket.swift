#if canImport(FoundationNetworking) && !os(Windows)
  import Foundation
  import Persist

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #elseif canImport(Android)
    import Android
  #endif

  /// A socket that another thread may interrupt.
  final class OpenSocket: Sendable {
    private struct State: Sendable {
      var handle: Int32 = -1
      var isCancelled = false
      var isLate = false
    }

    private let state = LockProtected(State())

    private var handle: Int32 { state.withLock(\.handle) }
    var isCancelled: Bool { state.withLock(\.isCancelled) }
    /// Whether the time of the request is over.
    var isLate: Bool { state.withLock(\.isLate) }

    /// - Returns: False if the system has no such sockets.
    func open(_ family: Int32, _ type: Int32, _ timeout: TimeInterval) throws -> Bool {
      try state.withLock { state in
        if state.isCancelled { throw CancellationError() }
        if state.isLate { return false }
        state.handle = socket(family, type, 0)
        guard state.handle >= 0 else { return false }
        // Programs that this one starts don't keep the connection open.
        _ = fcntl(state.handle, F_SETFD, FD_CLOEXEC)
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

    func cancel() { interrupt { $0.isCancelled = true } }

    /// Ends the request because its time is over.
    func expire() { interrupt { $0.isLate = true } }

    private func interrupt(_ record: (inout State) -> Void) {
      state.withLock { state in
        record(&state)
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
#endif
