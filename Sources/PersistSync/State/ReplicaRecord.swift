import Foundation
import Persist

/// A store's record of itself as a replica.
struct ReplicaRecord: Sendable, Hashable {
  /// The identity of the replica.
  var id: UUID
  /// The life of the store in which it got its identity: a copy or a restored store is another replica.
  var life: UInt64
  /// The model of the store when it was last synchronized.
  var model: ModelTag
  /// The number of the last transaction of the history whose changes are known; negative before the first
  /// synchronization.
  var position: Int64 = -1
  /// The latest time of a change, as far as it isn't too far in the future.
  var time: UInt64 = 0
  /// The number of the last change set.
  var lastNumber: Int64 = 0
  /// Counts writes of the tables, so that two programs that synchronize one store notice each other.
  var revision: UInt64 = 0
  /// The progress of making facts of the rows from before the first synchronization; nil before and afterward.
  var birth: Birth?
  /// Whether all changes of the history since the birth have to be compared with the facts as a whole.
  var isFresh = false
  /// Whether the store remembers objects that were deleted before the first synchronization.
  var hasDeletions = false

  var isBorn: Bool { position >= 0 }

  /// A position among all rows: those up to it are done.
  struct Birth: Sendable, Hashable {
    enum Phase: UInt8, Sendable {
      /// All rows get identities, so that references to any of them can be facts.
      case identities
      case values
    }

    var phase = Phase.identities
    /// The place of the entity in ``SyncSchema/ordered``.
    var entity = 0
    var key = Int64.min
    /// The number of the last transaction of the history at the beginning.
    var upTo: Int64
  }

  static let key = Data([UInt8(ascii: "S")])

  init(id: UUID, life: UInt64, model: ModelTag) { (self.id, self.life, self.model) = (id, life, model) }

  var bytes: Data {
    var writer = ByteWriter()
    writer.byte(Self.version)
    writer.uuid(id)
    for number in [
      life, model.number, UInt64(bitPattern: position), time, UInt64(bitPattern: lastNumber), revision,
    ] {
      writer.fixed(number)
    }
    if isFresh { writer.byte(Self.freshMark) }
    if hasDeletions { writer.byte(Self.deletionsMark) }
    if let birth {
      writer.byte(birth.phase.rawValue)
      for number in [UInt64(birth.entity), UInt64(bitPattern: birth.key), UInt64(bitPattern: birth.upTo)] {
        writer.fixed(number)
      }
    }
    return writer.data
  }

  private static let freshMark: UInt8 = 255
  /// Earlier versions take it for the other mark, which makes them compare more than necessary.
  private static let deletionsMark: UInt8 = 254

  /// The version of the tables that is written. In the first one, all packed facts were in the objects' own entries,
  /// where they remain until they change.
  private static let version: UInt8 = 2

  init(_ data: Data) throws {
    var reader = ByteReader(data)
    guard (1...Self.version).contains(try reader.byte()) else {
      throw PersistenceError(
        .newerStore, "A newer version of this program has synchronized the store.", fix: "Update the program.")
    }
    id = try reader.uuid()
    life = try reader.fixed64()
    model = ModelTag(number: try reader.fixed64())
    position = Int64(bitPattern: try reader.fixed64())
    time = try reader.fixed64()
    lastNumber = Int64(bitPattern: try reader.fixed64())
    revision = try reader.fixed64()
    while !reader.isAtEnd {
      let mark = try reader.byte()
      guard let phase = Birth.Phase(rawValue: mark) else {
        if mark == Self.deletionsMark { hasDeletions = true } else { isFresh = true }
        continue
      }
      let (entity, key, upTo) = (try reader.fixed64(), try reader.fixed64(), try reader.fixed64())
      birth = Birth(
        phase: phase, entity: Int(clamping: entity), key: Int64(bitPattern: key), upTo: Int64(bitPattern: upTo))
    }
  }
}

/// The change sets of another replica that have been applied.
struct ReceivedSets: Sendable, Hashable {
  /// All to this number.
  var upTo: Int64 = 0
  /// Later ones, which arrived before others.
  var others: Set<Int64> = []

  func contains(_ number: Int64) -> Bool { number <= upTo || others.contains(number) }

  mutating func insert(_ number: Int64) {
    guard !contains(number) else { return }
    others.insert(number)
    advance()
  }

  /// Counts all change sets to a number as applied, because a snapshot contains their facts.
  mutating func insertAll(upTo number: Int64) {
    guard number > upTo else { return }
    upTo = number
    others = others.filter { $0 > number }
    advance()
  }

  private mutating func advance() {
    while upTo < .max, others.remove(upTo + 1) != nil { upTo += 1 }
  }

  var bytes: Data {
    var writer = ByteWriter()
    writer.fixed(UInt64(bitPattern: upTo))
    for number in others.sorted() { writer.number(UInt64(bitPattern: number)) }
    return writer.data
  }

  init() {}

  init(_ data: Data) throws {
    var reader = ByteReader(data)
    upTo = Int64(bitPattern: try reader.fixed64())
    while !reader.isAtEnd { others.insert(Int64(bitPattern: try reader.number())) }
  }
}
