public import Foundation
import Persist

/// Changes of a replica, for others to apply.
///
/// It contains facts: for each changed property its value and the time of the change, in the terms of the model of the
/// replica that made it. Change sets may arrive late, repeatedly and in any order.
///
/// A hub stores their ``data``, which ``init(_:)`` reads and checks completely, whoever wrote it.
public struct ChangeSet: Sendable, Hashable {
  /// The place of the change set: its replica and number.
  public let entry: SyncEntry
  let facts: [Fact]

  struct Fact: Sendable, Hashable {
    let key: FactKey
    let value: Data
  }

  /// The number of facts.
  public var count: Int { facts.count }

  init(_ entry: SyncEntry, _ facts: [Fact]) {
    self.entry = entry
    // Places are sorted, since facts are large.
    let keys = facts.map(\.key.bytes)
    self.facts = facts.indices.sorted { keys[$0].precedes(keys[$1]) }.map { facts[$0] }
  }

  private static let magic = Data("PSYN".utf8)
  private static let digestSize = 8
  private static let maximumKeySizes = 256 << 20

  /// The change set in the compact form.
  ///
  /// Keys are in order. Their parts share the beginning of the one before, or are entries of a table, like replicas.
  /// Times are relative to the last one.
  public var data: Data {
    var writer = ByteWriter()
    writer.raw(Self.magic)
    writer.byte(SyncFormat.version)
    writer.uuid(entry.replica)
    writer.number(UInt64(bitPattern: entry.number))
    let registers = facts.map { fact in fact.key.isRegister ? try? Register(fact.value) : nil }
    var replicas: [UUID: Int] = [:]
    var order: [UUID] = []
    for register in registers.compactMap({ $0 }) where replicas[register.stamp.replica] == nil {
      replicas[register.stamp.replica] = order.count
      order.append(register.stamp.replica)
    }
    let base = registers.lazy.compactMap { $0?.stamp.time }.max() ?? 0
    writer.number(UInt64(order.count))
    for replica in order { writer.uuid(replica) }
    writer.fixed(base)
    let keys = facts.map { KeyParts($0.key) }
    var heads: [FactHead?: Int] = [:]
    var headOrder: [FactHead?] = []
    for key in keys where heads[key.head] == nil {
      heads[key.head] = headOrder.count
      headOrder.append(key.head)
    }
    writer.number(UInt64(headOrder.count))
    for head in headOrder { writer.counted(head?.bytes ?? Data()) }
    writer.number(UInt64(facts.count))
    var (lastObject, lastOther) = (Data(), Data())
    for ((fact, register), key) in zip(zip(facts, registers), keys) {
      writer.shared(key.object, with: lastObject)
      writer.number(UInt64(heads[key.head] ?? 0))
      if key.head?.hasOther == true {
        writer.shared(key.other, with: lastOther)
        lastOther = key.other
      }
      lastObject = key.object
      guard let register else {
        writer.counted(fact.value)
        continue
      }
      writer.number(UInt64(register.life))
      writer.number(UInt64(register.otherLife))
      writer.number(base - register.stamp.time)
      writer.number(UInt64(replicas[register.stamp.replica] ?? 0))
      writer.counted(register.content)
    }
    let digest = SHA256.digest(writer.data).prefix(Self.digestSize)
    return writer.data + digest
  }

  /// Reads a change set.
  ///
  /// - Throws: `PersistenceError.Code.malformedFile` if it isn't one, is damaged, or exceeds a limit;
  ///   `PersistenceError.Code.newerStore` if a newer version wrote it.
  public init(_ data: Data) throws {
    guard data.count > Self.digestSize + Self.magic.count, data.prefix(Self.magic.count) == Self.magic else {
      throw SyncFormat.error("It doesn't begin like one.")
    }
    let content = Data(data.dropLast(Self.digestSize))
    guard data.suffix(Self.digestSize) == Data(SHA256.digest(content).prefix(Self.digestSize)) else {
      throw SyncFormat.error("It is incomplete or damaged.")
    }
    var reader = ByteReader(content)
    _ = try reader.raw(Self.magic.count)
    let version = try reader.byte()
    guard version == SyncFormat.version else {
      throw PersistenceError(
        .newerStore, "A change set is in format \(version); this program reads format \(SyncFormat.version).",
        fix: "Update the program.")
    }
    let replica = try reader.uuid()
    let number = Int64(clamping: try reader.number())
    guard number > 0 else { throw SyncFormat.error("Its number is out of range.") }
    entry = SyncEntry(replica: replica, number: number)
    var replicas: [UUID] = []
    for _ in 0..<(try reader.count(upTo: 10_000)) { replicas.append(try reader.uuid()) }
    let base = try reader.fixed64()
    var heads: [(bytes: Data, head: FactHead?)] = []
    for _ in 0..<(try reader.count(upTo: 100_000)) {
      let bytes = try reader.counted(upTo: 3 * SyncFormat.maximumNameSize)
      var part = ByteReader(bytes)
      // Facts that belong to no object have none.
      heads.append((bytes, bytes.isEmpty ? nil : try FactHead(&part)))
      try part.end()
    }
    let count = try reader.count(upTo: SyncFormat.maximumFactCount)
    var facts: [Fact] = []
    facts.reserveCapacity(min(count, reader.remainingCount / 8))
    var (last, sizes) = (ReadKey(), 0)
    for _ in 0..<count {
      var key = last
      let object = try reader.shared(with: last.object)
      if object != last.object || last.identity == nil { key.read(object) }
      let place = try reader.count(upTo: max(heads.count - 1, 0))
      guard heads.indices.contains(place) else { throw SyncFormat.error("A part of a key is missing.") }
      let (bytes, head) = heads[place]
      key.head = bytes
      if head?.hasOther == true { key.other = try reader.shared(with: last.other) }
      sizes += key.object.count + bytes.count + key.other.count
      guard sizes <= Self.maximumKeySizes else { throw SyncFormat.error("Its keys exceed the limit.") }
      guard last.precedes(key, withOther: head?.hasOther == true) else {
        throw SyncFormat.error("Its facts aren't in order.")
      }
      last = key
      facts.append(try Self.fact(key.factKey(head), &reader, replicas, base))
    }
    try reader.end()
    self.facts = facts
  }

  private static func fact(
    _ key: FactKey, _ reader: inout ByteReader, _ replicas: [UUID], _ base: UInt64
  ) throws -> Fact {
    guard key.isRegister else {
      let value = try reader.counted()
      switch key {
      case .life: _ = try Life(value)
      case .cover:
        guard value.count == 8, value[0] < 128 else { throw SyncFormat.error("A number is out of range.") }
      case .pass: _ = try Passage(value)
      case .union: guard value == Register.present else { throw SyncFormat.error("A value is out of range.") }
      default:
        guard case .model(let tag) = key, ModelTag(digest: Data(SHA256.digest(value))) == tag else {
          throw SyncFormat.error("The description of a model doesn't match its digest.")
        }
        _ = try ManagedObjectModel(ModelDescription(json: value))
      }
      return Fact(key: key, value: value)
    }
    let (life, otherLife) = (try reader.number(), try reader.number())
    let difference = try reader.number()
    let place = try reader.count(upTo: max(replicas.count - 1, 0))
    guard difference <= base, replicas.indices.contains(place) else {
      throw SyncFormat.error("A time or replica is out of range.")
    }
    let register = Register(
      life: UInt32(clamping: life), otherLife: UInt32(clamping: otherLife),
      stamp: Stamp(time: base - difference, replica: replicas[place]), content: try reader.counted())
    try register.check()
    switch key {
    case .value: _ = try PortableValue.content(register.content)
    case .owner:
      if case .value(let value) = try PortableValue.content(register.content), !value.isNull {
        throw SyncFormat.error("An owner isn't an object.")
      }
    case .member:
      guard [Register.present, Register.absent].contains(register.content) else {
        throw SyncFormat.error("A value is out of range.")
      }
    default:
      // Without a last byte of zero, there is a position between any two.
      guard (1...SyncFormat.maximumNameSize).contains(register.content.count), register.content.last != 0 else {
        throw SyncFormat.error("A position is out of range.")
      }
    }
    return Fact(key: key, value: register.bytes)
  }
}

extension FactKey {
  /// Whether the value is a ``Register``.
  var isRegister: Bool {
    switch self {
    case .value, .owner, .member, .place: true
    case .life, .union, .model, .cover, .pass: false
    }
  }

  /// Whether the fact may be one of ``PackedFacts``.
  var isPackable: Bool {
    switch self {
    case .life, .value, .owner: true
    case .member, .place, .union, .model, .cover, .pass: false
    }
  }
}

/// The key of a fact while a change set is read: it shares parts with the one before.
private struct ReadKey {
  private(set) var object = Data()
  var head = Data()
  var other = Data()
  /// The object's identity; nil for facts that belong to no object.
  private(set) var identity: Identity?

  mutating func read(_ object: Data) {
    self.object = object
    var reader = ByteReader(object)
    guard (try? reader.byte()) == FactKey.objectMark, let found = try? FactKey.object(&reader), reader.isAtEnd else {
      return identity = nil
    }
    identity = found
  }

  func factKey(_ head: FactHead?) throws -> FactKey {
    guard let head else {
      guard object.first != FactKey.objectMark else { throw SyncFormat.error("A fact has an unknown kind.") }
      return try FactKey(object)
    }
    guard let identity else { throw SyncFormat.error("An identity is missing.") }
    guard head.hasOther else { return head.key(identity, nil) }
    var reader = ByteReader(other)
    return head.key(identity, try reader.identity())
  }

  /// Whether the key comes first. The parts contain their sizes, so that none is the beginning of another.
  func precedes(_ next: ReadKey, withOther hasOther: Bool) -> Bool {
    if object != next.object { return object.precedes(next.object) }
    if head != next.head { return head.precedes(next.head) }
    return hasOther && other.precedes(next.other)
  }
}
