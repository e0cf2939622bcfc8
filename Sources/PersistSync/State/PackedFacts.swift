import Foundation

/// The form in which a store has the life, the values and the owners of one object: one entry, whose key is
/// ``FactKey/prefix(of:)``.
///
/// Facts of which an object may have many, and large ones, are entries of their own, so that a change of a fact writes
/// little: see ``ObjectFacts/separate``.
enum PackedFacts {
  /// The maximum size of a packed value in bytes, and the maximum number of packed values.
  static let maximum = (size: 1024, count: 256)

  /// The parts of a fact that are written beside its head and its content.
  private struct Parts: OptionSet {
    let rawValue: UInt8
    /// The stamp isn't that of the fact before.
    static let stamp = Parts(rawValue: 1)
    /// The life isn't that of the object.
    static let life = Parts(rawValue: 2)
    static let otherLife = Parts(rawValue: 4)
  }

  /// - Returns: Nil if nothing is to be packed.
  static func data(_ object: ObjectFacts, _ heads: FactHeads) throws -> Data? {
    var writer = ByteWriter()
    var (isEmpty, count) = (true, UInt32(0))
    if let life = object.life, !object.separate.contains(.life), let number = try heads.number(of: life.head) {
      count = life.count
      writer.number(UInt64(count))
      writer.number(UInt64(number))
      isEmpty = false
    } else {
      writer.number(0)
    }
    var last: Stamp?
    func write(_ head: FactHead, _ register: Register) throws {
      guard !object.separate.contains(head), let number = try heads.number(of: head) else { return }
      isEmpty = false
      var parts: Parts = []
      if register.stamp != last { parts.insert(.stamp) }
      if register.life != count { parts.insert(.life) }
      if register.otherLife != 0 { parts.insert(.otherLife) }
      writer.number(UInt64(number))
      writer.byte(parts.rawValue)
      if parts.contains(.stamp) {
        writer.fixed(register.stamp.time)
        writer.uuid(register.stamp.replica)
      }
      if parts.contains(.life) { writer.number(UInt64(register.life)) }
      if parts.contains(.otherLife) { writer.number(UInt64(register.otherLife)) }
      writer.counted(register.content)
      last = register.stamp
    }
    for (property, register) in object.values { try write(.value(property), register) }
    for (property, register) in object.owners { try write(.owner(property), register) }
    return isEmpty ? nil : writer.data
  }

  static func read(_ data: Data, into object: ObjectFacts, _ heads: FactHeads) throws {
    var reader = ByteReader(data)
    let count = UInt32(try reader.count(upTo: Int(SyncFormat.maximumLife)))
    if count > 0, case .value(let entity) = try heads.head(reader.count(upTo: FactHeads.maximumCount)) {
      object.life = Life(count: count, model: entity.model, entity: entity.entity)
    }
    var last = Stamp(time: 0, replica: Stamp.origin)
    while !reader.isAtEnd {
      let head = try heads.head(reader.count(upTo: FactHeads.maximumCount))
      let parts = Parts(rawValue: try reader.byte())
      if parts.contains(.stamp) { last = Stamp(time: try reader.fixed64(), replica: try reader.uuid()) }
      let life = parts.contains(.life) ? UInt32(clamping: try reader.number()) : count
      let otherLife = parts.contains(.otherLife) ? UInt32(clamping: try reader.number()) : 0
      let register = Register(life: life, otherLife: otherLife, stamp: last, content: try reader.counted())
      switch head {
      case .value(let property): object.values[property] = register
      case .owner(let property): object.owners[property] = register
      case .life, .union, .member, .place: throw SyncFormat.error("A fact has an unknown kind.")
      }
    }
  }
}

extension Life {
  /// A head for the model and the entity, which many objects have in common.
  var head: FactHead { .value(PropertyName(model: model, entity: entity, name: "")) }
}
