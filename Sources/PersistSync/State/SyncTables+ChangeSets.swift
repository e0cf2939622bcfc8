import Foundation
import Persist

/// Change sets to send, and those that have been applied.
extension SyncTables {
  private static func outboxKey(_ number: Int64) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "o"))
    writer.fixed(UInt64(bitPattern: number))
    return writer.data
  }

  private static func namesKey(_ number: Int64) -> Data { Data([UInt8(ascii: "w")]) + outboxKey(number) }

  /// The digests of the parts of large values that an unsent change set names.
  func digests(ofUnsent number: Int64) throws -> [Data] {
    guard let names = try entry(Self.namesKey(number)) else { return [] }
    var reader = ByteReader(names)
    var digests: [Data] = []
    while !reader.isAtEnd { digests.append(try reader.raw(LargeValue.digestSize)) }
    return digests
  }

  /// Adds or removes a change set to send.
  ///
  /// - Parameter digests: The parts of large values that it names, which remain until it is sent.
  func setUnsent(_ number: Int64, _ data: Data?, naming digests: [Data] = []) throws {
    set(Self.outboxKey(number), data)
    let former = try self.digests(ofUnsent: number)
    guard !former.isEmpty || !digests.isEmpty else { return }
    setParts(namedBy: Self.outboxKey(number), from: former, to: digests)
    set(Self.namesKey(number), digests.isEmpty ? nil : digests.reduce(into: Data()) { $0 += $1 })
  }

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
    let covers = (set.table?.general ?? set.facts).filter { if case .cover = $0.key { true } else { false } }
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
