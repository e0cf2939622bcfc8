import Foundation
import Persist

/// Parts of large values on hubs.
extension ReplicaWork {
  /// Records the parts on a hub that nothing names at present.
  ///
  /// - Parameters:
  ///   - unnamed: These parts.
  ///   - all: All parts on the hub.
  ///   - date: A time.
  /// - Returns: Those that were recorded before by a former call, at this time or earlier, and ever since.
  func marked(
    _ unnamed: Set<SyncEntry>, among all: Set<SyncEntry>, before date: Date
  ) throws -> [SyncEntry] {
    try repeating { _ in
      let (step, record, _) = try open()
      let sorted = all.sorted()
      let known = try step.tables.history.attachedValues(sorted.map { Self.markKey(of: $0) })
      var old: [SyncEntry] = []
      let now = sources.now()
      for part in sorted {
        let key = Self.markKey(of: part)
        if unnamed.contains(part) {
          if let mark = known[key] {
            var reader = ByteReader(mark)
            let time = Date(timeIntervalSinceReferenceDate: Double(bitPattern: try reader.fixed64()))
            if time <= date { old.append(part) }
          } else {
            var writer = ByteWriter()
            writer.fixed(now.timeIntervalSinceReferenceDate.bitPattern)
            step.tables.set(key, writer.data)
          }
        } else if known[key] != nil {
          step.tables.set(key, nil)
        }
      }
      // Whoever gets such a part again records it anew.
      for part in old { step.tables.set(Self.markKey(of: part), nil) }
      step.tables.setRecord(record)
      try write(step)
      return old
    }
  }

  /// The parts that the snapshots of users name, if the store is a server's. They aren't on the hub.
  func partsOfScopes() throws -> Set<SyncEntry> {
    let step = try open().step
    var parts: Set<SyncEntry> = []
    var rest = AttachedRange(prefix: ScopeTables.mark)
    while true {
      let entries = try step.history.attachedEntries([rest], limit: Self.scopeCount)[0]
      guard let last = entries.last else { return parts }
      for entry in entries where !entry.value.isEmpty {
        if let set = try? ChangeSet(entry.value) { parts.formUnion(set.digests.map(SyncEntry.init(part:))) }
      }
      rest.first = last.key + [0]
    }
  }

  /// The number of entries that are read at a time; each may have some megabytes.
  private static let scopeCount = 50

  private static func markKey(of part: SyncEntry) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "d"))
    writer.uuid(part.replica)
    return writer.data
  }
}
