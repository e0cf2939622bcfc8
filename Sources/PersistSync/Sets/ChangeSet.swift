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
  /// The facts as they are in the bytes that were read; nil for a new change set.
  let table: FactTable?
  private let made: [Fact]

  /// The facts in the order of their keys. Those of a change set that was read are made with each call.
  var facts: [Fact] { table?.facts ?? made }

  struct Fact: Sendable, Hashable {
    let key: FactKey
    let value: Data
  }

  /// The number of facts.
  public var count: Int { table?.count ?? made.count }

  init(_ entry: SyncEntry, _ facts: [Fact]) {
    self.entry = entry
    // Places are sorted, since facts are large.
    made = KeyParts.order(of: KeyParts.all(of: facts)).map { facts[$0] }
    table = nil
  }

  /// The digests of the parts of large values that the facts name.
  var digests: [Data] {
    let all = table?.digests ?? made.flatMap { fact in
      fact.key.isValue ? SyncTables.digests(in: RegisterParts(fact)?.content) : []
    }
    if all.isEmpty { return [] }
    var known: Set<Data> = []
    return all.filter { known.insert($0).inserted }
  }

  public static func == (left: Self, right: Self) -> Bool { left.entry == right.entry && left.facts == right.facts }
  public func hash(into hasher: inout Hasher) { hasher.combine(entry) }

  private static let checksumSize = 8

  /// The checksum of a change set's bytes, which each change of eight bytes changes.
  ///
  /// It finds accidental damage; whoever wants to deceive can compute it. All else is checked when the bytes are read.
  static func checksum(_ bytes: [UInt8]) -> Data {
    func mixed(_ word: UInt64) -> UInt64 {
      let product = word &* 0xBF58_476D_1CE4_E5B9
      return product ^ product >> 31
    }
    let sum = bytes.withUnsafeBytes { bytes in
      var sum = mixed(UInt64(bytes.count))
      let whole = bytes.count & ~7
      for offset in stride(from: 0, to: whole, by: 8) {
        sum = mixed(sum ^ UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      }
      return mixed(sum ^ bytes[whole...].reduce(0) { $0 << 8 | UInt64($1) })
    }
    return withUnsafeBytes(of: sum.bigEndian) { Data($0) }
  }

  /// The change set in the compact form.
  ///
  /// Keys are in order. Their parts share the beginning of the one before, or are entries of a table, like replicas.
  /// Times are relative to the last one.
  public var data: Data {
    let facts = facts
    let keys = KeyParts.all(of: facts)
    let registers = facts.map { RegisterParts($0) }
    var replicas = ReplicaPlaces()
    var base: UInt64 = 0
    for case let register? in registers {
      _ = replicas.place(of: register.stamp.replica)
      base = max(base, register.stamp.time)
    }
    var heads: [FactHead?: Int] = [:]
    var headOrder: [Data] = []
    for key in keys where heads[key.head] == nil {
      heads[key.head] = headOrder.count
      headOrder.append(key.headBytes)
    }
    var writer = ChangeSetWriter(entry, by: replicas.all, upTo: base, heads: headOrder, count: facts.count)
    for ((fact, register), key) in zip(zip(facts, registers), keys) {
      writer.key(key.object, head: heads[key.head] ?? 0, rest: key.head?.hasRest == true ? key.rest : nil)
      guard let register else {
        writer.value(fact.value)
        continue
      }
      writer.register(
        life: register.life, otherLife: register.otherLife, time: register.stamp.time,
        replica: replicas.place(of: register.stamp.replica))
      writer.content(register.content)
    }
    return writer.data
  }

  /// Reads a change set.
  ///
  /// - Throws: `PersistenceError.Code.malformedFile` if it isn't one, is damaged, or exceeds a limit;
  ///   `PersistenceError.Code.newerStore` if a newer version wrote it.
  public init(_ data: Data) throws {
    try SyncFormat.checkSize(data.count)
    let magic = ChangeSetWriter.magic
    guard data.count > Self.checksumSize + magic.count, data.prefix(magic.count) == magic else {
      throw SyncFormat.error("It doesn't begin like one.")
    }
    let content = [UInt8](data.dropLast(Self.checksumSize))
    guard data.suffix(Self.checksumSize) == Self.checksum(content) else {
      throw SyncFormat.error("It is incomplete or damaged.")
    }
    var reader = ByteReader(content)
    _ = try reader.raw(magic.count)
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
    table = try FactTable(&reader, content)
    made = []
    try reader.end()
  }
}

extension FactKey {
  /// Whether the value is a ``Register``.
  var isRegister: Bool {
    switch self {
    case .value, .owner, .member, .place, .part: true
    case .life, .union, .model, .cover, .pass: false
    }
  }

  /// Whether the fact may be one of ``PackedFacts``.
  var isPackable: Bool {
    switch self {
    case .life, .value, .owner: true
    case .member, .place, .part, .union, .model, .cover, .pass: false
    }
  }
}
