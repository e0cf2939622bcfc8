import Foundation
import Persist

/// The facts of a change set as they are in its bytes, so that they take little memory and time.
struct FactTable: Sendable {
  /// The facts about one object, which are consecutive.
  struct Object: Sendable {
    /// Made when the facts are read, which happens while others are applied. It shares the memory of the key.
    let identity: Identity
    /// The key of the object's own entry: ``FactKey/prefix(of:)``.
    let key: Data
    var facts: Range<Int>
  }

  /// A fact about an object.
  struct Entry: Sendable {
    /// The place of its head in ``heads``.
    var head: Int32
    /// The place of the replica in ``replicas``.
    var replica: Int32
    var life: UInt32
    var otherLife: UInt32
    var time: UInt64
    /// The content of a register, or the value of another fact, among ``bytes``.
    var content: Range<Int>
    /// The identity of the second object or the path to a member, among ``names``; empty for none.
    var rest: Range<Int>
  }

  let bytes: [UInt8]
  private(set) var names: [UInt8] = []
  private(set) var objects: [Object] = []
  private(set) var entries: [Entry] = []
  let heads: [FactHead?]
  let replicas: [UUID]
  /// The facts that belong to no object.
  private(set) var general: [ChangeSet.Fact] = []

  var count: Int { entries.count + general.count }

  /// The model and the entity of the last life.
  private var lastLife = 0..<0

  private static let maximumKeySizes = 256 << 20

  /// Reads and checks the facts.
  ///
  /// - Parameter bytes: Those of the reader.
  init(_ reader: inout ByteReader, _ bytes: [UInt8]) throws {
    self.bytes = bytes
    var replicas: [UUID] = []
    for _ in 0..<(try reader.count(upTo: 10_000)) { replicas.append(try reader.uuid()) }
    let base = try reader.fixed64()
    var heads: [FactHead?] = []
    var headBytes: [Range<Int>] = []
    for _ in 0..<(try reader.count(upTo: 100_000)) {
      let range = try reader.countedRange(upTo: 3 * SyncFormat.maximumNameSize)
      var part = ByteReader(bytes, range)
      // Facts that belong to no object have none.
      heads.append(range.isEmpty ? nil : try FactHead(&part))
      headBytes.append(range)
      try part.end()
    }
    (self.replicas, self.heads) = (replicas, heads)
    let kinds = heads.map { Kind($0) }
    let count = try reader.count(upTo: SyncFormat.maximumFactCount)
    entries.reserveCapacity(min(count, reader.remainingCount / 8))
    var last = Key()
    var sizes = 0
    for _ in 0..<count {
      var key = last
      let shared = try reader.count(upTo: last.object.count)
      let rest = try reader.countedRange(upTo: 2 * SyncFormat.maximumNameSize)
      let isSame = shared == last.object.count && rest.isEmpty
      if !isSame {
        key.object = append(last.object.prefix(shared), rest)
        guard order(names, last.object, key.object) == true else { throw Self.isUnordered }
      }
      let place = try reader.count(upTo: max(heads.count - 1, 0))
      guard heads.indices.contains(place) else { throw SyncFormat.error("A part of a key is missing.") }
      key.head = headBytes[place]
      let kind = kinds[place]
      if kind.hasRest {
        let shared = try reader.count(upTo: last.rest.count)
        key.rest = append(last.rest.prefix(shared), try reader.countedRange(upTo: 2 * SyncFormat.maximumNameSize))
      }
      sizes += key.object.count + key.head.count + key.rest.count
      guard sizes <= Self.maximumKeySizes else { throw SyncFormat.error("Its keys exceed the limit.") }
      if isSame, !precedes(last, key, kind) { throw Self.isUnordered }
      last = key
      try addFact(key, isOfLastObject: isSame, head: place, kind, from: &reader, upTo: base)
    }
  }

  /// The kind of a fact, as far as reading depends on it.
  private enum Kind {
    case general, life, value, owner, union, member, place, part

    init(_ head: FactHead?) {
      self =
        switch head {
        case nil: .general
        case .life: .life
        case .value: .value
        case .owner: .owner
        case .union: .union
        case .member: .member
        case .place: .place
        case .part: .part
        }
    }

    var hasRest: Bool { self == .union || self == .member || self == .place || self == .part }
  }

  /// The parts of a key: the object's and the rest among the names, the head's among the bytes.
  private struct Key {
    var object = 0..<0
    var head = 0..<0
    var rest = 0..<0
  }

  /// - Returns: The place of a name that begins like another one.
  private mutating func append(_ beginning: Range<Int>, _ rest: Range<Int>) -> Range<Int> {
    let start = names.count
    // One by one: a part of the names would keep them from growing in place.
    for place in beginning { names.append(names[place]) }
    names.append(contentsOf: bytes[rest])
    return start..<names.count
  }

  private static var isUnordered: PersistenceError { SyncFormat.error("Its facts aren't in order.") }

  /// Whether a key comes before the next one of the same object. The parts contain their sizes, so that none is the
  /// beginning of another.
  private func precedes(_ key: Key, _ next: Key, _ kind: Kind) -> Bool {
    if let order = order(bytes, key.head, next.head) { return order }
    return kind.hasRest && order(names, key.rest, next.rest) == true
  }

  /// Whether a part of bytes comes before another one; nil if they are equal.
  private func order(_ bytes: [UInt8], _ left: Range<Int>, _ right: Range<Int>) -> Bool? {
    let order = bytes.order(left, beside: bytes, right)
    return order == 0 ? nil : order < 0
  }

  private mutating func addFact(
    _ key: Key, isOfLastObject: Bool, head place: Int, _ kind: Kind, from reader: inout ByteReader, upTo base: UInt64
  ) throws {
    if kind == .general {
      let object = Data(names[key.object])
      guard object.first != FactKey.objectMark else { throw SyncFormat.error("A fact has an unknown kind.") }
      return general.append(try Self.generalFact(FactKey(object), try reader.counted()))
    }
    if !isOfLastObject || objects.isEmpty || !general.isEmpty {
      guard general.isEmpty else { throw SyncFormat.error("An identity is missing.") }
      var part = ByteReader(names, key.object)
      guard try part.byte() == FactKey.objectMark else { throw SyncFormat.error("An identity is missing.") }
      let identity = try part.countedRange(upTo: SyncFormat.maximumNameSize)
      guard !identity.isEmpty else { throw SyncFormat.error("An identity is empty.") }
      try part.end()
      let bytes = Data(names[key.object])
      let start = key.object.lowerBound
      objects.append(
        Object(
          identity: Identity(bytes: bytes[identity.lowerBound - start..<identity.upperBound - start]), key: bytes,
          facts: entries.count..<entries.count))
    }
    if kind.hasRest, !(1...SyncFormat.maximumNameSize).contains(key.rest.count) {
      throw SyncFormat.error("An identity is missing.")
    }
    let rest = kind.hasRest ? key.rest : 0..<0
    if kind == .part { _ = try JSONPath(bytes: Data(names[rest])).names }
    if kind == .life || kind == .union {
      let content = try reader.countedRange()
      if kind == .life {
        let (_, rest) = try Life.count(bytes, content)
        if rest.isEmpty || !bytes.isEqual(rest, to: bytes, lastLife) { _ = try Life(bytes, content) }
        lastLife = rest
      } else if !bytes[content].elementsEqual(Register.present) {
        throw SyncFormat.error("A value is out of range.")
      }
      return add(
        Entry(head: Int32(place), replica: 0, life: 0, otherLife: 0, time: 0, content: content, rest: rest))
    }
    let (life, otherLife) = (try reader.number(), try reader.number())
    let difference = try reader.number()
    let replica = try reader.count(upTo: max(replicas.count - 1, 0))
    guard difference <= base, replicas.indices.contains(replica) else {
      throw SyncFormat.error("A time or replica is out of range.")
    }
    let content = try reader.countedRange()
    guard base - difference <= SyncFormat.maximumTime, life <= UInt64(SyncFormat.maximumLife),
      otherLife <= UInt64(SyncFormat.maximumLife)
    else { throw SyncFormat.error("A time or count is out of range.") }
    try check(content, of: kind)
    add(
      Entry(
        head: Int32(place), replica: Int32(replica), life: UInt32(life), otherLife: UInt32(otherLife),
        time: base - difference, content: content, rest: rest))
  }

  private mutating func add(_ entry: Entry) {
    entries.append(entry)
    objects[objects.count - 1].facts = objects[objects.count - 1].facts.lowerBound..<entries.count
  }

  /// Checks the content of a register.
  private func check(_ content: Range<Int>, of kind: Kind) throws {
    switch kind {
    case .value: try PortableValue.check(bytes, content)
    case .owner:
      switch try PortableValue.content(bytes, content) {
      case .reference, .value(.null): break
      case .value, .large: throw SyncFormat.error("An owner isn't an object.")
      }
    case .member:
      guard content.count == 1, bytes[content.lowerBound] < 2 else {
        throw SyncFormat.error("A value is out of range.")
      }
    case .place:
      // Without a last byte of zero, there is a position between any two.
      guard (1...SyncFormat.maximumNameSize).contains(content.count), bytes[content.upperBound - 1] != 0 else {
        throw SyncFormat.error("A position is out of range.")
      }
    case .part:
      guard content.isEmpty || JSONPart(Data(bytes[content])) != nil else {
        throw SyncFormat.error("A member of a value isn't JSON.")
      }
    case .general, .life, .union: break
    }
  }

  private static func generalFact(_ key: FactKey, _ value: Data) throws -> ChangeSet.Fact {
    switch key {
    case .cover:
      // No replica has sent as many change sets.
      guard value.count == 8, value[0] == 0 else { throw SyncFormat.error("A number is out of range.") }
    case .pass: _ = try Passage(value)
    default:
      let digest = Data(SHA256.digest(value))
      guard case .model(let tag) = key, ModelTag(digest: digest) == tag else {
        throw SyncFormat.error("The description of a model doesn't match its digest.")
      }
      _ = try ReadModels.shared.model(value, digest: digest)
    }
    return ChangeSet.Fact(key: key, value: value)
  }
}

extension FactTable {
  /// The digests of the parts of large values that the facts name.
  var digests: [Data] {
    var digests: [Data] = []
    for entry in entries where PortableValue.isLarge(bytes, entry.content) {
      guard case .value? = heads[Int(entry.head)] else { continue }
      digests += PortableValue.large(Data(bytes[entry.content]))?.digests ?? []
    }
    return digests
  }

  func stamp(of entry: Entry) -> Stamp { Stamp(time: entry.time, replica: replicas[Int(entry.replica)]) }

  /// The facts about an object.
  func facts(about object: Object) -> [ChangeSet.Fact] {
    let identity = object.identity
    return object.facts.compactMap { place in
      let entry = entries[place]
      guard let head = heads[Int(entry.head)] else { return nil }
      let content = Data(bytes[entry.content])
      let key = head.key(identity, Data(names[entry.rest]))
      guard key.isRegister else { return ChangeSet.Fact(key: key, value: content) }
      let register = Register(life: entry.life, otherLife: entry.otherLife, stamp: stamp(of: entry), content: content)
      return ChangeSet.Fact(key: key, value: register.bytes)
    }
  }

  /// All facts, in the order of their keys.
  var facts: [ChangeSet.Fact] {
    var all: [ChangeSet.Fact] = []
    all.reserveCapacity(count)
    for object in objects { all += facts(about: object) }
    return all + general
  }
}
