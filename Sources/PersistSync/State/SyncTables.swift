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

  // MARK: Facts

  func facts(of identity: Identity) throws -> ObjectFacts {
    if let object = objects[identity] { return object }
    let object = ObjectFacts(identity)
    for entry in try entries(withPrefix: FactKey.prefix(of: identity)) {
      _ = try object.join(FactKey(entry.key), entry.value)
    }
    objects[identity] = object
    return object
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
    let object = try facts(of: identity)
    guard try object.join(key, value) else { return false }
    set(key.bytes, value)
    switch key {
    case .value, .member:
      guard case .value = key else {
        if case .member(_, _, let member) = key {
          try addReferrer("Q", identity, to: member)
          try addReferrer("B", identity, to: member)
        }
        return true
      }
      if case .reference(let other, _) = try PortableValue.content(Register(value).content) {
        try addReferrer("Q", identity, to: other)
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
    let row = try entry(Self.key("I", identity.bytes)).map { data in
      var reader = ByteReader(data)
      return RowID(root: try reader.text(), entity: try reader.text(), key: Int64(bitPattern: try reader.fixed64()))
    }
    rows.updateValue(row, forKey: identity)
    return row
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
    let found = try entries(withPrefix: prefix)
    referrers[place] = Set(found.map { Identity(bytes: Data($0.key.dropFirst(prefix.count))) })
  }

  private func addReferrer(_ table: Character, _ identity: Identity, to other: Identity) throws {
    try readReferrers(table, to: other)
    guard referrers[Referred(table: table, identity: other)]?.insert(identity).inserted == true else { return }
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
    var all: [Data] = []
    if let data = try entry(Self.key("u", identity.bytes)) {
      var reader = ByteReader(data)
      while !reader.isAtEnd { all.append(try reader.counted()) }
    }
    uniqueKeys[identity] = all
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

  // MARK: Change sets

  private static func outboxKey(_ number: Int64) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "o"))
    writer.fixed(UInt64(bitPattern: number))
    return writer.data
  }

  func setUnsent(_ number: Int64, _ data: Data?) { set(Self.outboxKey(number), data) }

  /// The change sets that haven't been sent, by number.
  func unsent(limit: Int) throws -> [(number: Int64, data: Data)] {
    let range = AttachedRange(prefix: Data([UInt8(ascii: "o")]))
    return try history.attachedEntries([range], limit: limit)[0].map { entry in
      var reader = ByteReader(entry.key.dropFirst())
      return (Int64(bitPattern: try reader.fixed64()), entry.value)
    }
  }

  private static func receivedKey(_ replica: UUID) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "V"))
    writer.uuid(replica)
    return writer.data
  }

  func received(from replica: UUID) throws -> ReceivedSets {
    try entry(Self.receivedKey(replica)).map(ReceivedSets.init) ?? ReceivedSets()
  }

  func setReceived(_ sets: ReceivedSets, from replica: UUID) { set(Self.receivedKey(replica), sets.bytes) }

  private static func coversKey(_ snapshot: UUID) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "c"))
    writer.uuid(snapshot)
    return writer.data
  }

  /// Counts the change sets that a snapshot contains as applied, once all parts of the snapshot are.
  func finishSnapshot(_ set: ChangeSet, _ received: ReceivedSets) throws {
    guard set.entry.isSnapshot else { return }
    let key = Self.coversKey(set.entry.replica)
    let covers = set.facts.filter { if case .cover = $0.key { true } else { false } }
    if !covers.isEmpty {
      self.set(key, ChangeSet(set.entry, covers).data)
    }
    guard let last = try entry(key).map(ChangeSet.init), received.upTo >= last.entry.number else { return }
    for fact in last.facts {
      guard case .cover(let replica) = fact.key else { continue }
      var reader = ByteReader(fact.value)
      var sets = try self.received(from: replica)
      sets.insertAll(upTo: Int64(clamping: try reader.fixed64()))
      setReceived(sets, from: replica)
    }
    self.set(key, nil)
  }

  func allReceived() throws -> [UUID: ReceivedSets] {
    var all: [UUID: ReceivedSets] = [:]
    for entry in try entries(withPrefix: Data([UInt8(ascii: "V")])) {
      var reader = ByteReader(entry.key.dropFirst())
      all[try reader.uuid()] = try ReceivedSets(entry.value)
    }
    return all
  }
}
