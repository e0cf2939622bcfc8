import Foundation
import Persist

/// The objects that have arrived in a store which had none, so that nothing is read to know that further ones are new.
///
/// It ends with the first write of somebody else to the store's tables, and is memory of this process alone.
final class Arrivals: Sendable {
  private struct State {
    /// The life of the store, and the state of its tables that is known.
    var moment: (life: UInt64, revision: UInt64)?
    /// The hashes of the keys of objects.
    var hashes: Set<Int> = []
  }

  private let state = LockProtected(State())
  /// As many objects as four megabytes of hashes are for.
  private static let maximumCount = 1 << 18

  private static func hash(_ key: UnsafeRawBufferPointer) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return hasher.finalize()
  }

  /// The objects among some that the store may have.
  ///
  /// - Parameters:
  ///   - keys: The keys of the objects' own entries.
  ///   - record: The record of the state that the step reads.
  ///   - history: The history of the store.
  /// - Returns: Their places; nil if nothing is known.
  func possible(_ keys: [Data], _ record: ReplicaRecord, _ history: any StoreHistory) throws -> [Int]? {
    // One question for many objects, which is asked as long as they arrive alone.
    guard keys.count >= SyncTables.loadCount else { return nil }
    if state.withLock({ $0.moment.map { $0 == (record.life, record.revision) } }) != true {
      let objects = AttachedRange(prefix: Data([FactKey.objectMark]))
      let isEmpty = try history.attachedEntries([objects], limit: 1)[0].isEmpty
      state.withLock { $0 = State(moment: isEmpty ? (record.life, record.revision) : nil) }
    }
    return state.withLock { state in
      guard state.moment != nil else { return nil }
      return keys.indices.filter { place in state.hashes.contains(keys[place].withUnsafeBytes(Self.hash)) }
    }
  }

  /// Adds the objects of entries that were written.
  ///
  /// - Parameters:
  ///   - entries: All entries of one write.
  ///   - record: The record that was written with them.
  func add(_ entries: AttachedEntries, _ record: ReplicaRecord?) {
    state.withLock { state in
      guard let moment = state.moment else { return }
      guard let record, record.life == moment.life, record.revision == moment.revision + 1,
        state.hashes.count < Self.maximumCount
      else { return state = State() }
      state.moment = (record.life, record.revision)
      for key in entries.values.keys where key.first == FactKey.objectMark {
        state.hashes.insert(key.withUnsafeBytes(Self.hash))
      }
      for list in entries.lists {
        list.bytes.withUnsafeBytes { bytes in
          for entry in list.entries where bytes[entry.key.lowerBound] == FactKey.objectMark {
            state.hashes.insert(Self.hash(UnsafeRawBufferPointer(rebasing: bytes[entry.key])))
          }
        }
      }
    }
  }
}
