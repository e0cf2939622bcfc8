package import Foundation
import Synchronization

/// The files of the stores open in this program, in any coordinator.
///
/// Deleting a file under an open store would lose everything saved afterward.
package enum OpenStoreFiles {
  private struct OpenFile {
    let pool: ObjectIdentifier
    let file: FileState
    let shared: SharedFile
  }

  private static let files = LockProtected<[OpenFile]>([])

  /// - Returns: The state shared by all pools of the file; nil if there is no such file.
  static func add(_ url: URL, of pool: SQLiteConnectionPool) -> SharedFile? {
    guard let file = FileState(url) else { return nil }
    return files.withLock { files in
      let shared = files.first { $0.file.isSameFile(as: file) }?.shared ?? SharedFile()
      files.removeAll { $0.pool == ObjectIdentifier(pool) }
      files.append(OpenFile(pool: ObjectIdentifier(pool), file: file, shared: shared))
      return shared
    }
  }

  static func remove(_ pool: SQLiteConnectionPool) {
    files.withLock { $0.removeAll { $0.pool == ObjectIdentifier(pool) } }
  }

  /// Whether a URL still leads to the file that a pool has open.
  static func isCurrent(_ pool: SQLiteConnectionPool, at url: URL?) -> Bool {
    guard let url, let file = FileState(url) else { return false }
    return files.withLock { $0.contains { $0.pool == ObjectIdentifier(pool) && $0.file.isSameFile(as: file) } }
  }

  /// The number of stores that have a file open, under any name.
  static func count(of url: URL) -> Int {
    guard let file = FileState(url) else { return 0 }
    return files.withLock { $0.count { $0.file.isSameFile(as: file) } }
  }

  /// Whether a context, a prefetch or a copy of this program holds an earlier state of a store, in any coordinator.
  package static func isStateHeld(of url: URL) -> Bool {
    guard let file = FileState(url) else { return false }
    return files.withLock { $0.contains { $0.file.isSameFile(as: file) && $0.shared.heldStates.isHolding } }
  }
}

/// The state shared by the pools of one file, in any coordinator of this program.
final class SharedFile: Sendable {
  let heldStates = HeldStates()
  private let changes = Atomic<UInt64>(0)

  /// The number of changes of the store that this program has made, or noticed while reading.
  var changeCount: UInt64 { changes.load(ordering: .acquiring) }

  func recordChange() { changes.add(1, ordering: .acquiringAndReleasing) }
}
