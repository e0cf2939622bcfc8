import Foundation

/// Reading and writing the entries that a product keeps in a store.
extension RecordedHistory {
  package func attachedEntries(_ ranges: [AttachedRange], limit: Int) throws -> [[AttachedEntry]] {
    try store.readingHistory { connection in
      guard try connection.hasTable(named: SharedSQL.attachedTable) else { return ranges.map { _ in [] } }
      if limit == .max && ranges.count > 1 { return try connection.attachedEntries(ranges) }
      return try ranges.map { range in
        try connection.all(of: .attachedEntries(in: range, limit: limit)) {
          AttachedEntry(key: $0.data(0), value: $0.data(1))
        }
      }
    }
  }

  package func attachedValues(of keys: ByteList) throws -> AttachedValues {
    try store.readingHistory { connection in
      guard keys.count > 0, try connection.hasTable(named: SharedSQL.attachedTable) else {
        return AttachedValues(count: keys.count)
      }
      return try connection.attachedValues(of: keys)
    }
  }

  package func write(_ entries: AttachedEntries) throws { try store.writingHistory { try $0.write(entries) } }
}

extension HistoryConnection {
  /// Writes entries; the caller holds the transaction, and hasn't counted it in the history yet.
  ///
  /// - Throws: ``PersistenceError/Code/mergeConflict`` if entries or the history have changed unexpectedly.
  @_semantics("optimize.sil.specialize.generic.never")
  package func write(_ entries: AttachedEntries) throws {
    if let expected = entries.lastTransaction, try lastHistoryNumbers().transaction != expected {
      throw overtaken("Another transaction was saved after number \(expected).")
    }
    if try !hasTable(named: SharedSQL.attachedTable) { try execute(.createAttachedTable) }
    for (key, value) in entries.unchanged {
      let present = try first(of: .attachedEntries(in: AttachedRange(key: key), limit: 1)) { $0.data(1) }
      let isUnchanged = present?.hasSameBytes(as: value) ?? (value == nil)
      if !isUnchanged { throw overtaken("Another program has written the store's attached entries.") }
    }
    let present = entries.values.compactMap { key, value in value.map { AttachedEntry(key: key, value: $0) } }
    // Written in the order of their keys, so that each page of the table is written once.
    try setAttached(AttachedList(present.ordered { $0.key.precedes($1.key) }))
    for list in entries.lists { try setAttached(list) }
    let removed = entries.values.filter { $0.value == nil }.keys.ordered { $0.precedes($1) }
    for group in groups(of: removed) { if let sql = SharedSQL.removeAttachedEntries(group) { try execute(sql) } }
  }

  fileprivate func attachedEntries(_ ranges: [AttachedRange]) throws -> [[AttachedEntry]] {
    var all: [[AttachedEntry]] = []
    for group in groups(of: ranges) {
      guard let sql = SharedSQL.attachedEntries(in: group) else { continue }
      var found: [[AttachedEntry]] = Array(repeating: [], count: group.count)
      try forEachRow(of: sql) { row in
        found[Int(row.integer(0))].append(AttachedEntry(key: row.data(1), value: row.data(2)))
      }
      all += found.map { $0.count < 2 ? $0 : $0.ordered { $0.key.precedes($1.key) } }
    }
    return all
  }

  /// Splits a list into parts for one statement each: few different lengths, so that statements can be reused, and few
  /// bytes.
  package func groups<Part>(of all: [Part], size: (Part) -> Int = { _ in 0 }) -> [ArraySlice<Part>] {
    var groups: [ArraySlice<Part>] = []
    var rest = all[...]
    while !rest.isEmpty {
      var (count, bytes) = (0, 0)
      for part in rest.prefix(SharedSQL.greatestAttachedGroup) {
        bytes += size(part)
        if count > 0 && bytes > Self.greatestGroupSize { break }
        count += 1
      }
      var length = 1
      while length * 2 <= count { length *= 2 }
      groups.append(rest.prefix(length))
      rest = rest.dropFirst(length)
    }
    return groups
  }

  /// In bytes.
  private static var greatestGroupSize: Int { 1 << 20 }

  private func overtaken(_ what: String) -> PersistenceError {
    PersistenceError(.mergeConflict, at: .store(url), what, fix: "Read the store again, and repeat the operation.")
  }
}

extension Data {
  /// Whether the bytes come first in lexicographic order.
  @inline(never)
  fileprivate func precedes(_ other: Data) -> Bool {
    withUnsafeBytes { bytes in other.withUnsafeBytes { bytes.order(beside: $0) < 0 } }
  }
}
