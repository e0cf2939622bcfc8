import Foundation
import Persist

/// The tables in which a store keeps its facts, during one step of a synchronization.
///
/// Everything is an entry under a key whose first byte is the table:
///
/// | first byte | key | content |
/// |---|---|---|
/// | `F` | an identity | the row, unique values, life, values and owners of the object: ``PackedFacts``; or its row |
/// | `F`, `m` | ``FactKey`` | the value of the fact |
/// | `H` | a number | ``FactHead`` |
/// | `S` | | ``ReplicaRecord`` |
/// | `o` | a number | a change set that hasn't been sent yet |
/// | `V` | a replica | its change sets that have been applied: ``ReceivedSets`` |
/// | `R` | a row | the objects that it represents; the packed facts of a single one: ``RowEntry`` |
/// | `Q` | an identity, and another one | nothing: the second object may refer to the first, whatever its row shows |
/// | `B` | the same | nothing: it may have it as a member of a many-to-many relationship |
/// | `U` | unique values, and an identity | nothing: the object has these values |
/// | `b` | a digest | a part of a large value: ``LargeValue`` |
/// | `n` | a digest, and a key | nothing: the fact or change set with the key names the part |
/// | `d` | a place of a part on a hub | the time at which nothing named it |
/// | `w` | the number of a change set that hasn't been sent | the digests that it names |
/// | `c` | a snapshot | its last part, until all others have been applied |
/// | `D` | the place of a row | the time of its creation, and its identity if that is known: ``FormerDeletion`` |
/// | `P` | | nothing: the rows of all objects have to be computed |
final class SyncTables {
  let history: any StoreHistory
  /// The entries to write.
  private(set) var changes = AttachedEntries()
  private(set) var record: ReplicaRecord?
  private let readRecord: Data?
  var objects: [Identity: ObjectFacts] = [:]
  let heads: FactHeads
  /// The objects whose packed facts have changed.
  private var repacked: Set<Identity> = []
  var rows: [Identity: RowID?] = [:]
  /// The keys of the rows' entries to which the own entries of objects lead.
  var links: [Identity: Data] = [:]
  var identities: [RowID: [Identity]] = [:]
  var referrers: [Referred: Set<Identity>] = [:]
  /// Referrers that aren't written yet.
  private var added: [Referred: Set<Identity>] = [:]
  var holders: [Data: Set<Identity>] = [:]
  var uniqueKeys: [Identity: [Data]] = [:]
  /// The keys that have got objects in this step, by their beginning.
  var addedKeys: [Data: Set<Data>] = [:]

  /// Parts of large values that a fact or a change set doesn't name any longer.
  var released: Set<Data> = []

  /// A row: the name of its table's entity, its own entity and its key.
  struct RowID: Hashable {
    var root: String
    var entity: String
    var key: Int64

    static func == (left: RowID, right: RowID) -> Bool { left.key == right.key && left.root == right.root }
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  init(_ history: any StoreHistory) throws {
    (self.history, heads) = (history, FactHeads(history))
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
  func finish(after transaction: Int64?) throws -> AttachedEntries {
    var packed: [AttachedEntry] = []
    packed.reserveCapacity(repacked.count)
    try loadIdentities(of: repacked.compactMap { rows[$0] ?? nil })
    for identity in repacked {
      guard let object = objects[identity] else { continue }
      let key = FactKey.prefix(of: identity)
      let row = rows[identity] ?? nil
      let data = try PackedFacts.data(object, row: row, uniqueKeys: uniqueKeys[identity] ?? [], heads)
      changes.values[key] = data == nil ? .some(nil) : nil
      guard let data else { continue }
      guard let row, identities[row] == [identity] else {
        packed.append(AttachedEntry(key: key, value: data))
        continue
      }
      let rowKey = Self.key(of: row)
      changes.values[rowKey] = nil
      packed.append(AttachedEntry(key: rowKey, value: RowEntry.data(identity, packed: data)))
      if links[identity] != rowKey { packed.append(AttachedEntry(key: key, value: PackedFacts.link(to: rowKey))) }
    }
    for (key, value) in heads.added { set(key, value) }
    try removeReleasedParts()
    if var record {
      record.revision += 1
      self.record = record
      changes.unchanged = [ReplicaRecord.key: readRecord]
      set(ReplicaRecord.key, record.bytes)
    }
    var list = AttachedList(packed)
    list.sort()
    changes.lists = [list]
    changes.lastTransaction = transaction
    return changes
  }

  @discardableResult
  func addObject(_ identity: Identity, _ entries: [AttachedEntry]) throws -> ObjectFacts {
    let object = ObjectFacts(identity)
    let prefix = FactKey.prefix(of: identity)
    var packed = PackedFacts()
    for entry in entries {
      if entry.key.count == prefix.count {
        packed = try PackedFacts.read(entry.value, into: object, heads)
      } else {
        try object.addSeparate(FactKey(entry.key), entry.value)
      }
    }
    objects[identity] = object
    if rows[identity] == nil { rows.updateValue(packed.row, forKey: identity) }
    if uniqueKeys[identity] == nil { uniqueKeys[identity] = packed.uniqueKeys }
    return object
  }

  // MARK: Facts

  func facts(of identity: Identity) throws -> ObjectFacts {
    if let object = objects[identity] { return object }
    let found = try entries(withPrefix: FactKey.prefix(of: identity))
    return try addObject(identity, try resolved(found))
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
      let object = try facts(of: other)
      if try object.join(mirrored, value) {
        set(mirrored.bytes, value)
        object.hasOthers = true
        repacked.insert(other)
      }
    }
    let object = try facts(of: identity)
    let former = key.isValue ? Self.digests(in: object.content(of: key)) : []
    guard try object.join(key, value) else { return false }
    if key.isValue {
      let digests = Self.digests(in: object.content(of: key))
      if former != digests { setParts(namedBy: key.bytes, from: former, to: digests) }
    }
    let hadOthers = object.hasOthers
    if try object.isSeparate(key, heads) { set(key.bytes, value) }
    if key.isPackable || !hadOthers || key.isUnion || key.isPart { repacked.insert(identity) }
    if case .life = key {
      let removed = object.removeFormerLives()
      removeReferrer(identity, of: removed, unless: object)
      for (former, content) in removed {
        if try object.isSeparate(former, heads) { set(former.bytes, nil) }
        let digests = Self.digests(in: content)
        if !digests.isEmpty { setParts(namedBy: former.bytes, from: digests, to: []) }
      }
    }
    switch key {
    case .member(_, _, let member):
      addReferrer(identity, to: member)
      addReferrer("B", identity, to: member)
    case .value, .owner:
      if let other = object.content(of: key).flatMap(PortableValue.reference)?.identity {
        addReferrer(identity, to: other)
      }
    default: break
    }
    return true
  }

  /// Removes all facts about an object.
  func forget(_ identity: Identity) throws {
    // Its row remains known until it is deleted.
    for (property, register) in try facts(of: identity).values {
      let key = FactKey.value(identity, property)
      setParts(namedBy: key.bytes, from: Self.digests(in: register.content), to: [])
    }
    for entry in try entries(withPrefix: FactKey.prefix(of: identity)) { set(entry.key, nil) }
    let prefix = FactKey.prefix(of: identity)
    for key in changes.values.keys where key.starts(with: prefix) { set(key, nil) }
    objects[identity] = ObjectFacts(identity)
    repacked.insert(identity)
  }

  /// All objects with facts.
  func allObjects() throws -> Set<Identity> {
    var all = Set(objects.keys)
    for entry in try entries(withPrefix: Data([FactKey.objectMark])) {
      var reader = ByteReader(Data(entry.key.dropFirst()))
      all.insert(try FactKey.object(&reader))
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

  func row(of identity: Identity) throws -> RowID? {
    if let row = rows[identity] { return row }
    _ = try facts(of: identity)
    return rows[identity] ?? nil
  }

  /// All objects with rows.
  func forEachRow(_ body: (Identity, RowID) throws -> Void) throws {
    var all: [(Identity, RowID)] = []
    for entry in try entries(withPrefix: Data([UInt8(ascii: "R")])) {
      var reader = ByteReader(entry.key)
      _ = try reader.byte()
      let root = try reader.text()
      let row = RowID(root: root, entity: "", key: Int64(bitPattern: try reader.fixed64()))
      for identity in try RowEntry.identities(entry.value) { all.append((identity, row)) }
    }
    try load(all.map(\.0))
    for (identity, row) in all { try body(identity, try self.row(of: identity) ?? row) }
  }

  /// The objects that a row represents: several if they have equal unique values.
  func identities(of row: RowID) throws -> [Identity] {
    if let known = identities[row] { return known }
    let all = try entry(Self.key(of: row)).map(RowEntry.identities) ?? []
    identities[row] = all
    return all
  }

  func setRow(of identity: Identity, to row: RowID?) throws {
    if let former = try self.row(of: identity), former != row {
      try setIdentities(of: former, to: identities(of: former).filter { $0 != identity })
    }
    rows.updateValue(row, forKey: identity)
    repacked.insert(identity)
    guard let row else { return }
    let others = try identities(of: row)
    if !others.contains(identity) { try setIdentities(of: row, to: others + [identity]) }
  }

  /// Writes the packed facts of an object again.
  func setChanged(_ identity: Identity) { repacked.insert(identity) }

  private func setIdentities(of row: RowID, to all: [Identity]) throws {
    identities[row] = all
    // The entry may contain their facts, or will do so.
    for identity in all {
      _ = try facts(of: identity)
      repacked.insert(identity)
    }
    set(Self.key(of: row), all.isEmpty ? nil : RowEntry.data(all))
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

  func setReferrers(_ entries: [AttachedEntry], _ prefix: Data, of place: Referred) {
    referrers[place] = Set(entries.map { Identity(bytes: Data($0.key.dropFirst(prefix.count))) })
      .union(added[place] ?? [])
  }

  func addReferrer(_ identity: Identity, to other: Identity) { addReferrer("Q", identity, to: other) }

  /// Doesn't read the others, of which there may be many.
  private func addReferrer(_ table: Character, _ identity: Identity, to other: Identity) {
    let place = Referred(table: table, identity: other)
    added[place, default: []].insert(identity)
    guard referrers[place]?.insert(identity).inserted != false else { return }
    set(Self.key(table, other.bytes, identity.bytes), Data())
  }

  /// Removes an object from those that refer to others.
  ///
  /// - Parameters:
  ///   - facts: Facts of the object that are gone.
  ///   - object: Those that are left.
  private func removeReferrer(
    _ identity: Identity, of facts: [(key: FactKey, content: Data)], unless object: ObjectFacts
  ) {
    let others = Set(facts.compactMap { $0.key.other ?? PortableValue.reference($0.content)?.identity })
    guard !others.isEmpty else { return }
    let registers = Array(object.values.values) + Array(object.owners.values)
    let kept = Set(registers.compactMap(\.reference?.identity)).union(object.members.values.flatMap(\.keys))
    for other in others.subtracting(kept) {
      for table: Character in ["Q", "B"] {
        let place = Referred(table: table, identity: other)
        added[place]?.remove(identity)
        referrers[place]?.remove(identity)
        set(Self.key(table, other.bytes, identity.bytes), nil)
      }
    }
  }

  struct Referred: Hashable {
    var table: Character
    var identity: Identity
  }
}
