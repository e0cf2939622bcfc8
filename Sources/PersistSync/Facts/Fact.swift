import Foundation

/// The time of a change, in an order that all replicas agree on.
struct Stamp: Sendable, Hashable, Comparable {
  /// A hybrid time: microseconds since 1970 in the upper 54 bits, and a counter.
  var time: UInt64
  /// The replica that made the change; zero for changes from before a replica's first synchronization.
  var replica: UUID

  /// Returns the hybrid time of a date, which is limited to the range of hybrid times.
  static func time(of date: Date) -> UInt64 {
    UInt64(min(max(date.timeIntervalSince1970 * 1_000_000, 0), Double(1 << 52))) << 10
  }

  /// The time by which a change may be ahead of the clock and still raise later ones: a day. Every change comes after
  /// the value that it replaces in any case, so that a wrong clock only decides between changes that didn't know of
  /// each other.
  static let maximumSkew = UInt64(86_400_000_000) << 10

  static let origin = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))

  static func < (left: Stamp, right: Stamp) -> Bool {
    if left.time != right.time { return left.time < right.time }
    return withUnsafeBytes(of: left.replica.uuid) { left in
      withUnsafeBytes(of: right.replica.uuid) { left.lexicographicallyPrecedes($0) }
    }
  }
}

/// The subject of a fact.
///
/// Facts are the state that replicas share. Of two facts with the same key, the one with the greater bytes holds, so
/// that it doesn't matter in which order, and how often, they arrive.
enum FactKey: Sendable, Hashable {
  /// The number of creations and deletions of an object, and its entity. The object exists if the number is odd.
  case life(Identity)
  /// The value of an attribute, or the destination of a to-one relationship.
  case value(Identity, PropertyName)
  /// Whether an object is a member of a many-to-many relationship.
  case member(Identity, PropertyName, Identity)
  /// The position of a member in an ordered relationship.
  case place(Identity, PropertyName, Identity)
  /// The text of a member of a JSON value, since the whole was set; empty if it was removed: ``JSONPart``.
  case part(Identity, PropertyName, JSONPath)
  /// The owner of an object in a to-many relationship without an inverse.
  case owner(Identity, PropertyName)
  /// Two objects that became one.
  case union(Identity, Identity)
  /// The description of a model.
  case model(ModelTag)
  /// The last change set of a replica that a snapshot contains. It isn't stored as a fact.
  case cover(UUID)
  /// An object that leaves the device, or is replaced by what follows: ``Passage``. It isn't stored as a fact.
  case pass(Identity)

  /// The first byte of keys that belong to objects.
  static let objectMark = UInt8(ascii: "F")
  static let modelMark = UInt8(ascii: "m")
  private static let coverMark = UInt8(ascii: "c")
  private static let passageMark = UInt8(ascii: "e")

  static func prefix(of identity: Identity) -> Data {
    var writer = ByteWriter()
    writer.byte(objectMark)
    writer.counted(identity.bytes)
    return writer.data
  }

  /// Whether a key belongs to an object as a whole, and not to one of its facts.
  static func isPrefix(_ key: Data) -> Bool {
    var reader = ByteReader(key)
    guard (try? reader.byte()) == objectMark, (try? reader.countedRange()) != nil else { return false }
    return reader.isAtEnd
  }

  /// The identity of the object to which a key belongs as a whole.
  static func identity(inPrefix key: Data) throws -> Identity {
    var reader = ByteReader(key)
    _ = try reader.byte()
    return try object(&reader)
  }

  var object: Identity? {
    switch self {
    case .life(let identity), .value(let identity, _), .member(let identity, _, _), .place(let identity, _, _),
      .owner(let identity, _), .union(let identity, _), .part(let identity, _, _):
      identity
    case .model, .cover, .pass: nil
    }
  }

  /// The object that was created or deleted.
  var createdOrDeleted: Identity? { if case .life(let identity) = self { identity } else { nil } }

  var isValue: Bool { if case .value = self { true } else { false } }

  var isPart: Bool { if case .part = self { true } else { false } }

  var isUnion: Bool { if case .union = self { true } else { false } }

  /// Whether replicas may send such a fact.
  var isOrdinary: Bool {
    switch self {
    case .cover, .pass: false
    default: true
    }
  }

  var property: PropertyName? {
    switch self {
    case .value(_, let property), .owner(_, let property), .member(_, let property, _), .place(_, let property, _),
      .part(_, let property, _):
      property
    case .life, .union, .model, .cover, .pass: nil
    }
  }

  var bytes: Data {
    var writer = ByteWriter()
    if case .model(let tag) = self {
      writer.byte(Self.modelMark)
      writer.fixed(tag.number)
      return writer.data
    }
    if case .cover(let replica) = self {
      writer.byte(Self.coverMark)
      writer.uuid(replica)
      return writer.data
    }
    if case .pass(let identity) = self {
      writer.byte(Self.passageMark)
      writer.raw(identity.bytes)
      return writer.data
    }
    guard let object, let head = FactHead(self) else { return writer.data }
    writer.raw(Self.prefix(of: object))
    head.write(to: &writer)
    writer.raw(rest)
    return writer.data
  }

  init(_ data: Data) throws {
    var reader = ByteReader(data)
    switch try reader.byte() {
    case Self.coverMark: self = .cover(try reader.uuid())
    case Self.modelMark: self = .model(ModelTag(number: try reader.fixed64()))
    case Self.passageMark: self = .pass(try reader.identity())
    case Self.objectMark:
      let object = try Self.object(&reader)
      let head = try FactHead(&reader)
      self = head.key(object, head.hasRest ? try reader.identity().bytes : Data())
    default: throw SyncFormat.error("A fact has an unknown kind.")
    }
    try reader.end()
  }

  /// Reads the identity of an object to which a key belongs.
  static func object(_ reader: inout ByteReader) throws -> Identity {
    let object = Identity(bytes: try reader.counted(upTo: SyncFormat.maximumNameSize))
    guard !object.bytes.isEmpty else { throw SyncFormat.error("An identity is empty.") }
    return object
  }
}

/// The number of creations and deletions of an object, and its entity.
struct Life: Sendable, Hashable {
  var count: UInt32
  var model: ModelTag
  var entity: String

  var exists: Bool { count % 2 == 1 }

  var bytes: Data {
    var writer = ByteWriter()
    writer.fixed(count)
    writer.fixed(model.number)
    writer.counted(entity)
    return writer.data
  }

  init(count: UInt32, model: ModelTag, entity: String) {
    (self.count, self.model, self.entity) = (count, model, entity)
  }

  init(_ data: Data) throws { try self.init([UInt8](data), 0..<data.count) }

  /// Reads the count, which the model and the entity follow: those of most objects beside each other are the same.
  static func count(_ bytes: [UInt8], _ range: Range<Int>) throws -> (count: UInt32, rest: Range<Int>) {
    var reader = ByteReader(bytes, range)
    let count = try reader.fixed32()
    guard (1...SyncFormat.maximumLife).contains(count) else { throw SyncFormat.error("A count is out of range.") }
    return (count, reader.position..<range.upperBound)
  }

  init(_ bytes: [UInt8], _ range: Range<Int>) throws {
    let (count, rest) = try Self.count(bytes, range)
    self.count = count
    var reader = ByteReader(bytes, rest)
    model = ModelTag(number: try reader.fixed64())
    entity = try reader.text()
    try reader.end()
  }
}

/// The value of a property, a membership or a position.
struct Register: Sendable, Hashable {
  /// The object's ``Life/count`` at the change.
  var life: UInt32
  /// That of the other object; zero for properties.
  var otherLife: UInt32 = 0
  var stamp: Stamp
  var content: Data

  var bytes: Data {
    var writer = ByteWriter()
    writer.fixed(life)
    writer.fixed(otherLife)
    writer.fixed(stamp.time)
    writer.uuid(stamp.replica)
    writer.raw(content)
    return writer.data
  }

  init(life: UInt32, otherLife: UInt32 = 0, stamp: Stamp, content: Data) {
    (self.life, self.otherLife, self.stamp, self.content) = (life, otherLife, stamp, content)
  }

  /// The size of the bytes before the content.
  static let headSize = 32

  init(_ data: Data) throws {
    var reader = ByteReader(data)
    (life, otherLife) = (try reader.fixed32(), try reader.fixed32())
    stamp = Stamp(time: try reader.fixed64(), replica: try reader.uuid())
    content = reader.rest()
    try check()
  }

  /// - Throws: If a part exceeds a limit.
  func check() throws {
    guard stamp.time <= SyncFormat.maximumTime, life <= SyncFormat.maximumLife, otherLife <= SyncFormat.maximumLife,
      content.count <= SyncFormat.maximumValueSize
    else { throw SyncFormat.error("A time or count is out of range.") }
  }

  /// Whether another register of the same fact holds instead: the order of their ``bytes``.
  func isOverruled(by other: Register) -> Bool {
    if life != other.life { return life < other.life }
    if otherLife != other.otherLife { return otherLife < other.otherLife }
    if stamp != other.stamp { return stamp < other.stamp }
    return content.precedes(other.content)
  }

  /// The order of registers of one property, whatever objects they belong to.
  static func isLater(_ left: Register, than right: Register) -> Bool {
    if left.stamp != right.stamp { return right.stamp < left.stamp }
    if left.content != right.content { return right.content.precedes(left.content) }
    return (left.life, left.otherLife) > (right.life, right.otherLife)
  }
}

/// The parts of a register in its bytes, which were checked before.
struct RegisterParts {
  let life: UInt32
  let otherLife: UInt32
  let stamp: Stamp
  /// A part of the bytes.
  let content: Data

  /// Nil for a fact that isn't a register.
  init?(_ fact: ChangeSet.Fact) {
    guard fact.key.isRegister, fact.value.count >= Register.headSize else { return nil }
    (life, otherLife, stamp) = fact.value.withUnsafeBytes { bytes in
      let stamp = Stamp(
        time: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)),
        replica: UUID(uuid: bytes.loadUnaligned(fromByteOffset: 16, as: uuid_t.self)))
      return (
        UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)),
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)), stamp
      )
    }
    content = fact.value.dropFirst(Register.headSize)
  }
}
