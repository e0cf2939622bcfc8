import Foundation

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

#if canImport(Darwin) || os(FreeBSD)
  /// Waits for changes of certain files in a folder, using the kernel's event queue.
  ///
  /// It watches the folder's entries and the content of the write-ahead log and the journal, which every commit
  /// changes. It doesn't open the database: when a process closes any descriptor of a file, the system releases all
  /// locks of the process on that file, including those of SQLite's connections. SQLite locks neither the log nor the
  /// journal.
  ///
  /// - SeeAlso: <https://man.freebsd.org/cgi/man.cgi?kqueue>, <https://sqlite.org/howtocorrupt.html> (section 2.2)
  final class FolderEvents: Sendable {
    private let queue: Int32
    private let folder: Int32
    private let paths: [String]
    /// The open files among `paths`, in their order; -1 for one that doesn't exist.
    private let files: LockProtected<[Int32]>

    /// The identifier of the event that ends a wait.
    private static let wake: Int32 = 0

    /// Nil if the system refuses to watch the folder.
    ///
    /// - Parameter names: The names of the files in the folder.
    init?(in folder: URL, names: Set<String>) {
      let queue = kqueue()
      guard queue >= 0 else { return nil }
      let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else {
        close(queue)
        return nil
      }
      self.queue = queue
      self.folder = descriptor
      paths = names.filter { $0.hasSuffix("-wal") || $0.hasSuffix("-journal") }.sorted().map {
        folder.appendingPathComponent($0).path
      }
      files = LockProtected([Int32](repeating: -1, count: paths.count))
      let isWatched =
        Self.add(Self.wake, EVFILT_USER, flags: EV_ADD, notes: 0, to: queue)
        && Self.add(
          descriptor, EVFILT_VNODE, flags: EV_ADD | EV_CLEAR, notes: NOTE_WRITE | NOTE_EXTEND, to: queue)
      guard isWatched else { return nil }
      watchFiles()
    }

    deinit {
      for file in files.withLock({ $0 }) where file >= 0 { close(file) }
      close(folder)
      close(queue)
    }

    /// - Returns: Whether the system accepted the event.
    private static func add(
      _ identifier: Int32, _ filter: Int32, flags: Int32, notes: Int32, to queue: Int32
    ) -> Bool {
      var change = kevent()
      change.ident = UInt(identifier)
      change.filter = Int16(filter)
      change.flags = UInt16(flags)
      change.fflags = UInt32(notes)
      return kevent(queue, &change, 1, nil, 0, nil) == 0
    }

    /// Watches the files that exist now: a log that was deleted and created again is another file.
    private func watchFiles() {
      files.withLock { files in
        for (index, path) in paths.enumerated() {
          // Closing a file also removes its events from the queue.
          if files[index] >= 0 { close(files[index]) }
          files[index] = open(path, O_RDONLY | O_CLOEXEC)
          guard files[index] >= 0 else { continue }
          let notes = NOTE_WRITE | NOTE_EXTEND | NOTE_DELETE | NOTE_RENAME
          _ = Self.add(files[index], EVFILT_VNODE, flags: EV_ADD | EV_CLEAR, notes: notes, to: queue)
        }
      }
    }

    /// Waits until one of the files may have changed, the time is over, or the wait is ended.
    func wait(_ milliseconds: Int32) {
      var time = timespec(tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
      var event = kevent()
      guard kevent(queue, nil, 0, &event, 1, &time) > 0, event.ident == UInt(folder) else { return }
      watchFiles()
    }

    /// Ends the current wait and all later ones.
    func end() { _ = Self.add(Self.wake, EVFILT_USER, flags: 0, notes: NOTE_TRIGGER, to: queue) }
  }
#endif
