import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

#if os(Linux) || os(Android)
  /// Waits for changes of certain files in a folder, using the system's file events.
  ///
  /// - SeeAlso: <https://man7.org/linux/man-pages/man7/inotify.7.html>
  final class FolderEvents: Sendable {
    private let events: Int32
    /// A pipe whose writing end wakes a waiting thread.
    private let wake: (reading: Int32, writing: Int32)
    private let names: Set<String>

    /// Nil if the system's limit of watches is reached.
    ///
    /// - Parameter names: The names of the files in the folder.
    init?(in folder: URL, names: Set<String>) {
      let events = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
      guard events >= 0 else { return nil }
      let mask = UInt32(IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_DELETE | IN_MOVED_FROM)
      var ends: [Int32] = [0, 0]
      guard inotify_add_watch(events, folder.path, mask) >= 0, pipe(&ends) == 0 else {
        close(events)
        return nil
      }
      self.events = events
      self.names = names
      wake = (ends[0], ends[1])
    }

    deinit {
      for file in [events, wake.reading, wake.writing] { close(file) }
    }

    /// Waits until one of the files may have changed, the time is over, or the wait is ended.
    func wait(_ milliseconds: Int32) {
      let deadline = ContinuousClock.now + .milliseconds(Int(milliseconds))
      while true {
        let rest = deadline - .now
        guard rest > .zero else { return }
        var files = [
          pollfd(fd: events, events: Int16(POLLIN), revents: 0),
          pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0),
        ]
        let parts = rest.components
        let time = Int32(clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000 + 1)
        guard poll(&files, 2, time) > 0 else { continue }
        if files[1].revents != 0 || readEvents() { return }
      }
    }

    /// Ends the current wait and all later ones.
    func end() {
      var byte: UInt8 = 1
      _ = write(wake.writing, &byte, 1)
    }

    /// Consumes the pending events.
    ///
    /// - Returns: Whether any of them concerns one of the files.
    private func readEvents() -> Bool {
      var buffer = [UInt8](repeating: 0, count: 16_384)
      var isFound = false
      while true {
        let count = read(events, &buffer, buffer.count)
        guard count > 0 else { return isFound }
        buffer.withUnsafeBytes { bytes in
          var start = 0
          let header = MemoryLayout<inotify_event>.size
          while start + header <= count {
            let length = Int(bytes.loadUnaligned(fromByteOffset: start + header - 4, as: UInt32.self))
            guard start + header + length <= count else { break }
            let name = bytes[(start + header)..<(start + header + length)].prefix { $0 != 0 }
            if length == 0 || names.contains(String(decoding: name, as: UTF8.self)) { isFound = true }
            start += header + length
          }
        }
      }
    }
  }
#endif
