import Foundation
import Persist

/// Reading ahead, so that many objects are read with few statements.
extension SyncTables {
  /// Reads the objects that rows represent, and what is known about them, in few transactions.
  func load(_ rows: [RowID]) throws {
    try loadIdentities(of: rows)
    try load(rows.flatMap { identities[$0] ?? [] })
  }

  private func loadIdentities(of rows: [RowID]) throws {
    let unread = rows.filter { identities[$0] == nil }
    for start in stride(from: 0, to: unread.count, by: Self.loadCount) {
      let group = unread[start..<min(start + Self.loadCount, unread.count)]
      let found = try history.attachedEntries(group.map { AttachedRange(key: Self.key(of: $0)) }, limit: .max)
      for (row, entries) in zip(group, found) {
        let data = changes.values[Self.key(of: row)] ?? entries.first?.value
        identities[row] = try data.map(Self.identities) ?? []
      }
    }
  }

  /// Reads everything that is known about objects, and about those that share their rows, in few transactions.
  func load(_ identities: [Identity]) throws {
    try loadFacts(of: identities)
    let rows = identities.compactMap { self.rows[$0] ?? nil }
    try loadIdentities(of: rows)
    try loadFacts(of: rows.flatMap { self.identities[$0] ?? [] })
  }

  /// Reads the objects that may refer to others, in few transactions.
  func loadReferrers(to identities: [Identity]) throws {
    for table: Character in ["Q", "B"] {
      let unread = identities.filter { referrers[Referred(table: table, identity: $0)] == nil }
      if let found = try entries(table, of: unread) {
        for identity in unread {
          let place = Referred(table: table, identity: identity)
          setReferrers(found[identity] ?? [], Self.key(table, identity.bytes), of: place)
        }
        continue
      }
      for start in stride(from: 0, to: unread.count, by: Self.loadCount) {
        let group = unread[start..<min(start + Self.loadCount, unread.count)]
        let prefixes = group.map { Self.key(table, $0.bytes) }
        let found = try history.attachedEntries(prefixes.map { AttachedRange(prefix: $0) }, limit: .max)
        for (identity, (prefix, entries)) in zip(group, zip(prefixes, found)) {
          setReferrers(entries, prefix, of: Referred(table: table, identity: identity))
        }
      }
    }
  }

  /// The objects among some to which others refer, perhaps.
  func referred(among identities: [Identity]) throws -> Set<Identity> {
    if let references = try entries("Q", of: identities), let owners = try entries("B", of: identities) {
      return Set(references.keys).union(owners.keys)
    }
    try loadReferrers(to: identities)
    return Set(try identities.filter { try !referrers(to: $0).isEmpty || !owners(of: $0).isEmpty })
  }

  /// The entries of many objects in a table that has few entries of these, such as that of a store which gets a
  /// snapshot: they are read at once.
  ///
  /// - Returns: Nil if there are few objects, or more entries than objects between the first and the last one.
  private func entries(_ table: Character, of identities: [Identity]) throws -> [Identity: [AttachedEntry]]? {
    guard identities.count >= Self.loadCount else { return nil }
    // Identities of one length are in the order of their keys.
    func precedes(_ left: Identity, _ right: Identity) -> Bool {
      left.bytes.count == right.bytes.count
        ? left < right : Self.key(table, left.bytes).precedes(Self.key(table, right.bytes))
    }
    guard let least = identities.min(by: precedes), let greatest = identities.max(by: precedes) else { return nil }
    let (first, last) = (Self.key(table, least.bytes), Self.key(table, greatest.bytes))
    let range = AttachedRange(first: first, end: AttachedRange(prefix: last).end)
    let found = try history.attachedEntries([range], limit: identities.count + 1)[0]
    guard found.count <= identities.count else { return nil }
    return try Dictionary(grouping: found) { entry in
      var reader = ByteReader(entry.key)
      _ = try reader.byte()
      return Identity(bytes: try reader.counted())
    }
  }

  private func loadFacts(of identities: [Identity]) throws {
    let unread = identities.filter { objects[$0] == nil }
    guard !unread.isEmpty else { return }
    let keys = unread.map(FactKey.prefix)
    let packed = try packed(keys)
    var others: [(identity: Identity, prefix: Data)] = []
    for (identity, key) in zip(unread, keys) where objects[identity] == nil {
      guard let data = packed[key] else {
        try addObject(identity, [])
        continue
      }
      if PackedFacts.hasOthers(data) {
        others.append((identity, key))
      } else {
        try addObject(identity, [AttachedEntry(key: key, value: data)])
      }
    }
    for start in stride(from: 0, to: others.count, by: Self.loadCount) {
      let group = others[start..<min(start + Self.loadCount, others.count)]
      let found = try history.attachedEntries(group.map { AttachedRange(prefix: $0.prefix) }, limit: .max)
      for ((identity, _), entries) in zip(group, found) where objects[identity] == nil {
        try addObject(identity, entries)
      }
    }
  }

  /// The packed facts of objects by their keys.
  ///
  /// If the store has few objects between the first and the last one, like a store that gets a snapshot, these are read
  /// at once.
  func packed(_ keys: [Data]) throws -> [Data: Data] {
    if keys.count >= Self.loadCount, let first = keys.min(by: { $0.precedes($1) }),
      let last = keys.max(by: { $0.precedes($1) })
    {
      let limit = keys.count / 16
      let range = AttachedRange(first: first, end: last + [0])
      let found = try history.attachedEntries([range], limit: limit + 1)[0]
      if found.count <= limit {
        return Dictionary(found.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
      }
    }
    return try history.attachedValues(keys)
  }

  private static let loadCount = 500
}
