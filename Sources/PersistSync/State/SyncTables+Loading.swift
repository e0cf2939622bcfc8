import Foundation
import Persist

/// Reading ahead, so that many objects are read with few statements.
extension SyncTables {
  /// Reads the objects that rows represent, and what is known about them, in few transactions.
  func load(_ rows: [RowID]) throws {
    try loadIdentities(of: rows)
    try load(rows.flatMap { identities[$0] ?? [] })
  }

  /// Reads the objects that rows represent, with the facts that are in the same entries.
  func loadIdentities(of rows: [RowID]) throws {
    let unread = rows.filter { identities[$0] == nil }
    guard !unread.isEmpty else { return }
    let keys = unread.map { Self.key(of: $0) }
    let found = try history.attachedValues(keys)
    for (row, key) in zip(unread, keys) {
      if let changed = changes.values[key] {
        identities[row] = try changed.map(RowEntry.identities) ?? []
        continue
      }
      guard let data = found[key] else {
        identities[row] = []
        continue
      }
      identities[row] = try RowEntry.identities(data)
      guard let (identity, packed) = try RowEntry.alone(data), objects[identity] == nil,
        !PackedFacts.hasOthers(packed)
      else { continue }
      links[identity] = key
      try addObject(identity, [AttachedEntry(key: FactKey.prefix(of: identity), value: packed)])
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
  ///
  /// - Parameter bounds: Keys of objects between which those of all of them are.
  func referred(
    among identities: [Identity], between bounds: (least: Data, greatest: Data)
  ) throws -> Set<Identity> {
    if let references = try entries("Q", of: identities, between: bounds),
      let owners = try entries("B", of: identities, between: bounds)
    {
      return Set(references.keys).union(owners.keys)
    }
    try loadReferrers(to: identities)
    return Set(try identities.filter { try !referrers(to: $0).isEmpty || !owners(of: $0).isEmpty })
  }

  /// The entries of many objects in a table that has few entries of these, such as that of a store which gets a
  /// snapshot: they are read at once.
  ///
  /// - Returns: Nil if there are few objects, or more entries than objects between the first and the last one.
  private func entries(
    _ table: Character, of identities: [Identity], between bounds: (least: Data, greatest: Data)? = nil
  ) throws -> [Identity: [AttachedEntry]]? {
    guard identities.count >= Self.loadCount else { return nil }
    let keys = bounds == nil ? identities.map(FactKey.prefix) : []
    guard let least = bounds?.least ?? keys.min(by: { $0.precedes($1) }),
      let greatest = bounds?.greatest ?? keys.max(by: { $0.precedes($1) })
    else { return nil }
    // Apart from the table, the keys are those of the objects.
    let mark = Data([table.asciiValue ?? 0])
    let (first, last) = (mark + least.dropFirst(), mark + greatest.dropFirst())
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
    for (place, (identity, key)) in zip(unread, keys).enumerated() where objects[identity] == nil {
      guard let found = packed[place] else {
        try addObject(identity, [])
        continue
      }
      if PackedFacts.hasOthers(found.packed) {
        others.append((identity, key))
      } else {
        links[identity] = found.rowKey
        try addObject(identity, [AttachedEntry(key: key, value: found.packed)])
      }
    }
    for start in stride(from: 0, to: others.count, by: Self.loadCount) {
      let group = others[start..<min(start + Self.loadCount, others.count)]
      let found = try history.attachedEntries(group.map { AttachedRange(prefix: $0.prefix) }, limit: .max)
      let resolved = try resolved(found.flatMap { $0 })
      var next = 0
      for ((identity, _), entries) in zip(group, found) {
        defer { next += entries.count }
        if objects[identity] == nil { try addObject(identity, Array(resolved[next..<next + entries.count])) }
      }
    }
  }

  // MARK: Packed facts

  /// The packed facts of an object.
  struct Packed {
    var packed: Data
    /// The key of the row's entry that contains them; nil for the object's own entry.
    var rowKey: Data?
  }

  /// The packed facts of objects, in the order of their keys; nil for one that the store doesn't know.
  func packed(_ keys: [Data]) throws -> [Packed?] {
    let own = try ownEntries(keys)
    var all: [Packed?] = Array(repeating: nil, count: keys.count)
    var links: [(place: Int, rowKey: Data)] = []
    for (place, key) in keys.enumerated() {
      guard let value = own[key] else { continue }
      if let rowKey = PackedFacts.rowKey(in: value) {
        links.append((place, rowKey))
      } else {
        all[place] = Packed(packed: value)
      }
    }
    guard !links.isEmpty else { return all }
    links.sort { $0.rowKey.precedes($1.rowKey) }
    let found = try history.attachedValues(links.map(\.rowKey))
    for (place, rowKey) in links {
      let key = keys[place]
      all[place] = try found[rowKey].flatMap { try packed(of: key, $0, rowKey) } ?? movedFacts(of: key)
    }
    return all
  }

  /// The packed facts in a row's entry, if they are those of an object.
  private func packed(of key: Data, _ data: Data, _ rowKey: Data) throws -> Packed? {
    guard let (identity, packed) = try RowEntry.alone(data), FactKey.prefix(of: identity) == key else { return nil }
    return Packed(packed: packed, rowKey: rowKey)
  }

  private static let attempts = 100

  /// Reads the packed facts of an object that another program is moving.
  private func movedFacts(of key: Data) throws -> Packed? {
    for _ in 0..<Self.attempts {
      guard let value = try history.attachedValues([key])[key] else { return nil }
      guard let rowKey = PackedFacts.rowKey(in: value) else { return Packed(packed: value) }
      if let data = try history.attachedValues([rowKey])[rowKey], let found = try packed(of: key, data, rowKey) {
        return found
      }
    }
    throw PersistenceError(
      .mergeConflict, "Another program is synchronizing the store.", fix: "Synchronize again.")
  }

  /// Entries with the packed facts in the place of links to the rows' entries.
  func resolved(_ entries: [AttachedEntry]) throws -> [AttachedEntry] {
    let linked = entries.indices.filter {
      PackedFacts.rowKey(in: entries[$0].value) != nil && FactKey.isPrefix(entries[$0].key)
    }
    guard !linked.isEmpty else { return entries }
    var resolved = entries
    let packed = try packed(linked.map { entries[$0].key })
    for (place, found) in zip(linked, packed) {
      // Nothing is left of an object that another program has forgotten meanwhile.
      resolved[place].value = found?.packed ?? Data([0])
      links[try FactKey.identity(inPrefix: entries[place].key)] = found?.rowKey
    }
    return resolved
  }

  /// The own entries of objects by their keys.
  ///
  /// If the store has few objects between the first and the last one, like a store that gets a snapshot, these are read
  /// at once.
  private func ownEntries(_ keys: [Data]) throws -> [Data: Data] {
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

  static let loadCount = 500
}
