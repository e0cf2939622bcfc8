import Foundation
import Persist

/// The tables in which a store keeps its facts, during one step of a synchronization.
///
/// Everything is an entry under a key whose first byte is the table:
///
/// | first byte | key | content |
/// |---|---|---|
/// | `F`, `m` | ``FactKey`` | the value of the fact |
/// | `S` | | ``ReplicaRecord`` |
/// | `o` | a number | a change set that hasn't been sent yet |
/// | `V` | a replica | its change sets that have been applied: ``ReceivedSets`` |
/// | `I` | an identity | the row that represents the object |
/// | `R` | a row | the objects that it represents |
/// | `Q` | an identity, and another one | nothing: the second object may refer to the first |
/// | `B` | the same | nothing: it may have it as a member of a many-to-many relationship |
/// | `U` | unique values, and an identity | nothing: the object has these values |
/// | `u` | an identity | its unique values |
/// | `c` | a snapshot | its last part, until all others have been applied |
/// | `P` | | nothing: the rows of all objects have to be computed |
final class SyncTables {
  let history: any StoreHistory
  /// The entries to write.
  private(set) var changes = AttachedEntries()
  private(set) var record: ReplicaRecord?
  private let readRecord: Data?
  private var objects: [Identity: ObjectFacts] = [:]
  private var rows: [Identity: RowID?] = [:]
  private var identities: [RowID: [Identity]] = [:]
  private var referrers: [Referred: Set<Identity>] = [:]
  /// Referrers that aren't written yet.
  private var added: [Referred: Set<Identity>] = [:]
  private var holders: [Data: Set<Identity>] = [:]
  private var uniqueKeys: [Identity: [Data]] = [:]

  /// A row: the name of its table's entity, its own entity and its key.
  struct RowID: Hashable {
    var root: String
    var entity: String
    var key: Int64

    static func == (left: RowID, right: RowID) -> Bool { left.key == right.key && left.root == right.root }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  init(_ history: any StoreHistory) throws {
    self.history = history
    readRecord = try history.attachedEntries([AttachedRange(key: ReplicaRecord.key)], limit: 1)[0].first?.value
    record = try readRecord.map(ReplicaRecord.init)
  }

  // MARK: Entries

  func entries(withPrefix prefix: Data) throws -> [AttachedEntry] {
    try history.attachedEntries([AttachedRange(prefix: prefix)], limit: .max)[0]
  }

  func entry(_ key: Data) throws -> Data? {
    if let changed = changes.values[key] { return changed }
    return try history.attachedEntries([AttachedRange(key: key)], limit: 1)[0].first?.value
  }

  func set(_ key: Data, _ value: Data?) { changes.values.updateValue(value, forKey: key) }

  func setRecord(_ new: ReplicaRecord) { record = new }

  /// Finishes the changes of one step.
  ///
  /// - Parameter transaction: The number of the last transaction of the history that the step knows; nil if the step
  ///   doesn't depend on it.
  func finish(after transaction: Int64?) -> AttachedEntries {
    if var record {
      record.revision += 1
      self.record = record
      changes.unchanged = [ReplicaRecord.key: readRecord]
      set(ReplicaRecord.key, record.bytes)
    }
    changes.lastTransaction = transaction
    return changes
  }

  // MARK: Reading ahead

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
    let places = identities.flatMap { [Referred(table: "Q", identity: $0), Referred(table: "B", identity: $0)] }
    let unread = places.filter { referrers[$0] == nil }
    for start in stride(from: 0, to: unread.count, by: Self.loadCount) {
      let group = unread[start..<min(start + Self.loadCount, unread.count)]
      let prefixes = group.map { Self.key($0.table, $0.identity.bytes) }
      let found = try history.attachedEntries(prefixes.map { AttachedRange(prefix: $0) }, limit: .max)
      for (place, (prefix, entries)) in zip(group, zip(prefixes, found)) { setReferrers(entries, prefix, of: place) }
    }
  }

  private func loadFacts(of identities: [Identity]) throws {
    let unread = identities.filter { objects[$0] == nil }
    for start in stride(from: 0, to: unread.count, by: Self.loadCount) {
      let group = unread[start..<min(start + Self.loadCount, unread.count)]
      let ranges = group.flatMap { identity in
        [
          AttachedRange(prefix: FactKey.prefix(of: identity)), AttachedRange(key: Self.key("I", identity.bytes)),
          AttachedRange(key: Self.key("u", identity.bytes)),
        ]
      }
      let found = try history.attachedEntries(ranges, limit: .max)
      for (index, identity) in group.enumerated() where objects[identity] == nil {
        try addObject(identity, found[3 * index])
        if rows[identity] == nil { rows.updateValue(try Self.row(found[3 * index + 1].first?.value), forKey: identity) }
        if uniqueKeys[identity] == nil { uniqueKeys[identity] = try Self.keys(found[3 * index + 2].first?.value) }
      }
    }
  }

  private static let loadCount = 500

  @discardableResult
  private func addObject(_ identity: Identity, _ entries: [AttachedEntry]) throws -> ObjectFacts {
    let object = ObjectFacts(identity)
    for entry in entries { _ = try object.join(FactKey(entry.key), entry.value) }
    objects[identity] = object
    return object
  }

  // MARK: Facts

  func facts(of identity: Identity) throws -> ObjectFacts {
    if let object = objects[identity] { return object }
    return try addObject(identity, entries(withPrefix: FactKey.prefix(of: identity)))
  }

  /// Adds a fact unless a later one is known.
  ///
  /// - Returns: Whether something has changed.
  @discardableResult
  func join(_ key: FactKey, _ value: Data) throws -> Bool {
    guard let identity = key.object else {
      guard case .model(let tag) = key, ModelTag(digest: Data(SHA256.digest(value))) == tag else {
        throw SyncFormat.error("The description of a model doesn't match its digest.")
      }
      let bytes = key.bytes
      guard try entry(bytes) == nil else { return false }
      set(bytes, value)
      return true
    }
    if case .union(_, let other) = key, other != identity {
      // Both objects know of it, whichever of the two facts has arrived.
      let mirrored = FactKey.union(other, identity)
      if try facts(of: other).join(mirrored, value) { set(mirrored.bytes, value) }
    }
    let object = try facts(of: identity)
    guard try object.join(key, value) else { return false }
    set(key.bytes, value)
    if case .life = key { for former in object.removeFormerLives() { set(former.bytes, nil) } }
    switch key {
    case .member(_, _, let member):
      addReferrer("Q", identity, to: member)
      addReferrer("B", identity, to: member)
    case .value, .owner:
      if case .reference(let other, _) = try PortableValue.content(Register(value).content) {
        addReferrer("Q", identity, to: other)
      }
    default: break
    }
    return true
  }

  /// Removes all facts about an object.
  func forget(_ identity: Identity) throws {
    for entry in try entries(withPrefix: FactKey.prefix(of: identity)) { set(entry.key, nil) }
    let prefix = FactKey.prefix(of: identity)
    for key in changes.values.keys where key.starts(with: prefix) { set(key, nil) }
    objects[identity] = ObjectFacts(identity)
  }

  /// All objects with facts.
  func allObjects() throws -> Set<Identity> {
    var all = Set(objects.keys)
    for entry in try entries(withPrefix: Data([FactKey.objectMark])) {
      if let identity = try FactKey(entry.key).object { all.insert(identity) }
    }
    return all
  }

  /// The descriptions of all known models.
  func models() throws -> [ModelTag: Data] {
    let prefix = Data([FactKey.modelMark])
    var all = Dictionary(
      try entries(withPrefix: prefix).map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    for (key, value) in changes.values where key.first == FactKey.modelMark { all[key] = value }
    var models: [ModelTag: Data] = [:]
    for (key, value) in all { if case .model(let tag) = try FactKey(key) { models[tag] = value } }
    return models
  }

  /// Whether the rows of all objects have to be computed, because of another model.
  var needsProjection: Bool {
    get throws { try entry(Self.projectionKey) != nil }
  }

  func setNeedsProjection(_ isNeeded: Bool) { set(Self.projectionKey, isNeeded ? Data() : nil) }

  private static let projectionKey = Data([UInt8(ascii: "P")])

  // MARK: Rows

  private static func key(_ table: Character, _ parts: Data...) -> Data {
    var writer = ByteWriter()
    writer.byte(table.asciiValue ?? 0)
    for (index, part) in parts.enumerated() {
      if index == parts.count - 1 && index > 0 { writer.raw(part) } else { writer.counted(part) }
    }
    return writer.data
  }

  private static func key(of row: RowID) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "R"))
    writer.counted(row.root)
    writer.fixed(UInt64(bitPattern: row.key))
    return writer.data
  }

  func row(of identity: Identity) throws -> RowID? {
    if let row = rows[identity] { return row }
    let row = try Self.row(entry(Self.key("I", identity.bytes)))
    rows.updateValue(row, forKey: identity)
    return row
  }

  private static func row(_ data: Data?) throws -> RowID? {
    guard let data else { return nil }
    var reader = ByteReader(data)
    return RowID(root: try reader.text(), entity: try reader.text(), key: Int64(bitPattern: try reader.fixed64()))
  }

  /// All objects with rows.
  func forEachRow(_ body: (Identity, RowID) throws -> Void) throws {
    for entry in try entries(withPrefix: Data([UInt8(ascii: "R")])) {
      var reader = ByteReader(entry.key)
      _ = try reader.byte()
      let root = try reader.text()
      let row = RowID(root: root, entity: "", key: Int64(bitPattern: try reader.fixed64()))
      for identity in try Self.identities(in: entry.value) { try body(identity, try self.row(of: identity) ?? row) }
    }
  }

  private static func identities(in data: Data) throws -> [Identity] {
    var reader = ByteReader(data)
    var all: [Identity] = []
    while !reader.isAtEnd { all.append(Identity(bytes: try reader.counted(upTo: SyncFormat.maximumNameSize))) }
    return all
  }

  /// The objects that a row represents: several if they have equal unique values.
  func identities(of row: RowID) throws -> [Identity] {
    if let known = identities[row] { return known }
    let all = try entry(Self.key(of: row)).map(Self.identities) ?? []
    identities[row] = all
    return all
  }

  func setRow(of identity: Identity, to row: RowID?) throws {
    if let former = try self.row(of: identity), former != row {
      try setIdentities(of: former, to: identities(of: former).filter { $0 != identity })
    }
    rows.updateValue(row, forKey: identity)
    var value: Data?
    if let row {
      var writer = ByteWriter()
      writer.counted(row.root)
      writer.counted(row.entity)
      writer.fixed(UInt64(bitPattern: row.key))
      value = writer.data
      let others = try identities(of: row)
      if !others.contains(identity) { setIdentities(of: row, to: others + [identity]) }
    }
    set(Self.key("I", identity.bytes), value)
  }

  private func setIdentities(of row: RowID, to all: [Identity]) {
    identities[row] = all
    var writer = ByteWriter()
    for identity in all { writer.counted(identity.bytes) }
    set(Self.key(of: row), all.isEmpty ? nil : writer.data)
  }

  // MARK: References

  func referrers(to identity: Identity) throws -> Set<Identity> {
    try readReferrers("Q", to: identity)
    return referrers[Referred(table: "Q", identity: identity)] ?? []
  }

  /// The objects that may have an object as a member of a many-to-many relationship.
  func owners(of identity: Identity) throws -> Set<Identity> {
    try readReferrers("B", to: identity)
    return referrers[Referred(table: "B", identity: identity)] ?? []
  }

  private func readReferrers(_ table: Character, to identity: Identity) throws {
    let place = Referred(table: table, identity: identity)
    guard referrers[place] == nil else { return }
    let prefix = Self.key(table, identity.bytes)
    setReferrers(try entries(withPrefix: prefix), prefix, of: place)
  }

  private func setReferrers(_ entries: [AttachedEntry], _ prefix: Data, of place: Referred) {
    referrers[place] = Set(entries.map { Identity(bytes: Data($0.key.dropFirst(prefix.count))) })
      .union(added[place] ?? [])
  }

  /// Doesn't read the others, of which there may be many.
  private func addReferrer(_ table: Character, _ identity: Identity, to other: Identity) {
    let place = Referred(table: table, identity: other)
    added[place, default: []].insert(identity)
    guard referrers[place]?.insert(identity).inserted != false else { return }
    set(Self.key(table, other.bytes, identity.bytes), Data())
  }

  private struct Referred: Hashable {
    var table: Character
    var identity: Identity
  }

  // MARK: Unique values

  /// The objects with unique values.
  func holders(of key: Data) throws -> Set<Identity> {
    if let known = holders[key] { return known }
    let prefix = Self.key("U", key)
    let all = Set(try entries(withPrefix: prefix).map { Identity(bytes: Data($0.key.dropFirst(prefix.count))) })
    holders[key] = all
    return all
  }

  func uniqueKeys(of identity: Identity) throws -> [Data] {
    if let known = uniqueKeys[identity] { return known }
    let all = try Self.keys(entry(Self.key("u", identity.bytes)))
    uniqueKeys[identity] = all
    return all
  }

  private static func keys(_ data: Data?) throws -> [Data] {
    guard let data else { return [] }
    var reader = ByteReader(data)
    var all: [Data] = []
    while !reader.isAtEnd { all.append(try reader.counted()) }
    return all
  }

  func setUniqueKeys(of identity: Identity, to keys: [Data]) throws {
    let former = try uniqueKeys(of: identity)
    guard former != keys else { return }
    for key in former where !keys.contains(key) {
      _ = try holders(of: key)
      holders[key]?.remove(identity)
      set(Self.key("U", key, identity.bytes), nil)
    }
    for key in keys where !former.contains(key) {
      _ = try holders(of: key)
      holders[key]?.insert(identity)
      set(Self.key("U", key, identity.bytes), Data())
    }
    uniqueKeys[identity] = keys
    var writer = ByteWriter()
    for key in keys { writer.counted(key) }
    set(Self.key("u", identity.bytes), keys.isEmpty ? nil : writer.data)
  }
}
