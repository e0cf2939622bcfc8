import Foundation
import Persist

/// A server's record of one user's devices, in the attached entries of its store.
///
/// | key | content |
/// |---|---|
/// | `x`, user, `S` | ``ScopeState`` |
/// | `x`, user, `p`, an identity | nothing: the user's devices have the object |
/// | `x`, user, `l`, an identity | nothing: the object has left |
/// | `x`, user, `d`, an identity | the reason why a change of the object was refused |
/// | `x`, user, `q`, an identity | a change of the object was refused once: the reason until devices can get it |
/// | `x`, user, `s`, a number | which objects enter and leave with a set of the user's stream |
/// | `x`, user, `n`, a snapshot, a number | a part of a snapshot |
/// | `y`, a replica | the user whose device it is |
/// | `z`, a replica, a number | the digest of a change set, and what remained of it if a part was refused |
struct ScopeTables {
  let history: any StoreHistory
  let user: String

  enum Table: Character {
    case state = "S"
    case held = "p"
    case left = "l"
    case refused = "d"
    case replaced = "q"
    case stream = "s"
    case part = "n"
  }

  /// The first byte of the keys that belong to users.
  static let mark = Data([UInt8(ascii: "x")])

  func prefix(_ table: Table) -> Data {
    var writer = ByteWriter()
    writer.raw(Self.mark)
    writer.counted(user)
    writer.byte(table.rawValue.asciiValue ?? 0)
    return writer.data
  }

  func key(_ table: Table, _ identity: Identity) -> Data { prefix(table) + identity.bytes }

  func key(stream number: Int64) -> Data {
    var writer = ByteWriter()
    writer.raw(prefix(.stream))
    writer.fixed(UInt64(bitPattern: number))
    return writer.data
  }

  func key(part entry: SyncEntry) -> Data {
    var writer = ByteWriter()
    writer.raw(prefix(.part))
    writer.uuid(entry.replica)
    writer.fixed(UInt64(bitPattern: entry.number))
    return writer.data
  }

  static func key(owner replica: UUID) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "y"))
    writer.uuid(replica)
    return writer.data
  }

  static func key(reviewed entry: SyncEntry) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "z"))
    writer.uuid(entry.replica)
    writer.fixed(UInt64(bitPattern: entry.number))
    return writer.data
  }

  // MARK: Reading

  func value(_ key: Data) throws -> Data? {
    try history.attachedEntries([AttachedRange(key: key)], limit: 1)[0].first?.value
  }

  /// The user's state with its bytes; a new one if there is none.
  func state(_ newStream: () -> UUID) throws -> (state: ScopeState, data: Data?) {
    guard let data = try value(prefix(.state)) else {
      return (ScopeState(stream: SyncEntry.stream(newStream())), nil)
    }
    return (try JSONDecoder().decode(ScopeState.self, from: data), data)
  }

  func identities(_ table: Table) throws -> Set<Identity> {
    let prefix = prefix(table)
    return Set(
      try history.attachedEntries([AttachedRange(prefix: prefix)], limit: .max)[0].map {
        Identity(bytes: Data($0.key.dropFirst(prefix.count)))
      })
  }

  /// The reasons by object of a table of refusals.
  func refusals(_ table: Table = .refused) throws -> [Identity: Data] {
    let prefix = prefix(table)
    var all: [Identity: Data] = [:]
    for entry in try history.attachedEntries([AttachedRange(prefix: prefix)], limit: .max)[0] {
      all[Identity(bytes: Data(entry.key.dropFirst(prefix.count)))] = entry.value
    }
    return all
  }

  /// The objects among some that the user's devices have.
  func held(_ identities: Set<Identity>) throws -> Set<Identity> { try found(identities, in: .held) }

  /// The objects among some that are in a table.
  func found(_ identities: Set<Identity>, in table: Table) throws -> Set<Identity> {
    let all = identities.sorted()
    let found = try history.attachedEntries(all.map { AttachedRange(key: key(table, $0)) }, limit: 1)
    return Set(zip(all, found).compactMap { $1.isEmpty ? nil : $0 })
  }

  /// The entries that replace a user's state, if nobody else has.
  func writing(_ state: ScopeState, replacing former: Data?) throws -> AttachedEntries {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var entries = AttachedEntries()
    entries.unchanged = [prefix(.state): former]
    entries.values = [prefix(.state): try encoder.encode(state)]
    return entries
  }
}

/// How far a user's devices can be brought up to date.
struct ScopeState: Sendable, Codable {
  /// A state of all objects of the scope, with which a device begins.
  struct Snapshot: Sendable, Codable {
    var id: UUID
    /// The number of parts.
    var count: Int64
    /// The last set of the stream that it contains.
    var number: Int64
    /// The last change sets of replicas that it contains.
    var covers: [UUID: Int64]
    /// The number of objects.
    var size: Int
  }

  /// The identity under which the user's devices get objects that come into the scope and leave it.
  var stream: UUID
  /// The number of the stream's last set.
  var number: Int64 = 1
  /// The number before that of the stream's first set that is still there.
  var removed: Int64 = 1
  /// The number of objects that entered since the snapshot.
  var size = 0
  var snapshot: Snapshot?
  /// Whether the objects of the scope have been determined.
  var isBegun = false
  /// The last transaction of the store for which they were.
  var position: Int64 = 0
  /// The scope for which they were.
  var scope = ""
}

extension SyncEntry {
  /// Whether the entry belongs to the stream of a user's scope.
  var isStream: Bool { replica.uuid.6 >> 4 == 14 }

  /// An identity for a user's stream: a UUID of a version that is never used for others.
  static func stream(_ random: UUID) -> UUID {
    var bytes = random.uuid
    bytes.6 = 0xE0 | bytes.6 & 0xF
    return UUID(uuid: bytes)
  }
}

/// An object that enters a scope, leaves it, or is replaced.
struct Passage: Sendable, Hashable {
  enum Kind: UInt8 {
    case leaves, isReplaced, enters
  }

  var kind: Kind
  /// Why a change was refused; empty if none was.
  var reason = ""

  static let maximumReasonSize = 1000

  var bytes: Data { Data([kind.rawValue]) + Data(reason.utf8.prefix(Self.maximumReasonSize)) }

  init(kind: Kind, reason: String = "") { (self.kind, self.reason) = (kind, reason) }

  init(_ data: Data) throws {
    var reader = ByteReader(data)
    guard let kind = Kind(rawValue: try reader.byte()), reader.remainingCount <= Self.maximumReasonSize else {
      throw SyncFormat.error("The reason of a refusal is out of range.")
    }
    (self.kind, reason) = (kind, String(decoding: reader.rest(), as: UTF8.self))
  }
}
