import Foundation

/// The form in which a store has an object: its row, its unique values, its life, its values and its owners.
///
/// They are in the entry of the object's row if the row represents no other one: ``RowEntry``. Otherwise, they are in
/// the object's own entry, whose key is ``FactKey/prefix(of:)``.
///
/// Facts of which an object may have many, and large ones, are entries of their own, so that a change of a fact writes
/// little: see ``ObjectFacts/separate``.
struct PackedFacts {
  /// The maximum size of a packed value in bytes, and the maximum number of packed values.
  static let maximum = (size: 1024, count: 256)

  /// A value or an owner. Its content is a part of other bytes.
  struct Fact {
    /// The number of its ``FactHead``.
    var head: Int
    var life: UInt32
    var otherLife: UInt32
    var stamp: Stamp
    /// The bytes in which the content is, among those of the caller.
    var source: Int
    var content: Range<Int>
  }

  /// The parts of an object that are written.
  struct Parts: OptionSet {
    let rawValue: UInt8
    /// There are entries with other facts.
    static let others = Parts(rawValue: 1)
    static let row = Parts(rawValue: 2)
    static let uniqueKeys = Parts(rawValue: 4)
    static let life = Parts(rawValue: 8)
    /// The object is one with others.
    static let unions = Parts(rawValue: 16)
    /// There are changed members of JSON values.
    static let members = Parts(rawValue: 32)
    /// The facts are in the entry of a row, whose key follows.
    static let link = Parts(rawValue: 64)
  }

  /// The parts of a fact that are written beside its head and its content.
  struct FactParts: OptionSet {
    let rawValue: UInt8
    /// The stamp isn't that of the fact before.
    static let stamp = FactParts(rawValue: 1)
    /// The life isn't that of the object.
    static let life = FactParts(rawValue: 2)
    static let otherLife = FactParts(rawValue: 4)
  }

  /// Whether the object has facts that are entries of their own.
  var hasOthers = false
  /// Whether some of these make it one with other objects.
  var hasUnions = false
  /// Whether some of these are about members of JSON values.
  var hasMembers = false
  var row: SyncTables.RowID?
  var uniqueKeys: [Data] = []
  /// The count of the life, and the number of its head; nil for none.
  var life: (count: UInt32, head: Int)?
  var facts: [Fact] = []

  var isEmpty: Bool { !hasOthers && row == nil && uniqueKeys.isEmpty && life == nil && facts.isEmpty }

  init() {}

  /// - Parameters:
  ///   - range: The part of the bytes; nil for all.
  ///   - source: The source of the facts' contents, which are in the bytes.
  init(_ bytes: [UInt8], _ range: Range<Int>? = nil, source: Int) throws {
    var reader = ByteReader(bytes, range ?? 0..<bytes.count)
    let parts = Parts(rawValue: try reader.byte())
    (hasOthers, hasUnions) = (parts.contains(.others), parts.contains(.unions))
    hasMembers = parts.contains(.members)
    let head = try Head(parts, &reader)
    (row, uniqueKeys, life) = (head.row, head.uniqueKeys, head.life)
    let count = life?.count ?? 0
    var last = Stamp(time: 0, replica: Stamp.origin)
    while !reader.isAtEnd {
      let head = try reader.count(upTo: FactHeads.maximumCount)
      let parts = FactParts(rawValue: try reader.byte())
      if parts.contains(.stamp) { last = Stamp(time: try reader.fixed64(), replica: try reader.uuid()) }
      let life = parts.contains(.life) ? UInt32(clamping: try reader.number()) : count
      let otherLife = parts.contains(.otherLife) ? UInt32(clamping: try reader.number()) : 0
      facts.append(
        Fact(
          head: head, life: life, otherLife: otherLife, stamp: last, source: source,
          content: try reader.countedRange()))
    }
  }

  /// The parts of an object before its values.
  struct Head {
    var row: SyncTables.RowID?
    var uniqueKeys: [Data] = []
    var life: (count: UInt32, head: Int)?

    fileprivate init(_ parts: Parts, _ reader: inout ByteReader) throws {
      if parts.contains(.row) {
        row = SyncTables.RowID(
          root: try reader.text(), entity: try reader.text(), key: Int64(bitPattern: try reader.number()))
      }
      if parts.contains(.uniqueKeys) {
        let count = try reader.count(upTo: reader.remainingCount)
        for _ in 0..<count { uniqueKeys.append(try reader.counted()) }
      }
      if parts.contains(.life) {
        let count = UInt32(try reader.count(upTo: Int(SyncFormat.maximumLife)))
        life = (count, try reader.count(upTo: FactHeads.maximumCount))
      }
    }
  }

  /// The head of a packed object, without its values.
  static func head(_ bytes: [UInt8]) throws -> Head {
    var reader = ByteReader(bytes)
    return try Head(Parts(rawValue: try reader.byte()), &reader)
  }

  /// Whether a packed object has facts that are entries of their own.
  static func hasOthers(_ data: Data) -> Bool { data.first.map { $0 & Parts.others.rawValue != 0 } ?? false }

  /// The content of an object's own entry if its facts are in the entry of its row.
  static func link(to rowKey: Data) -> Data { Data([Parts.link.rawValue]) + rowKey }

  /// Writes the beginning of that content; the key of the row's entry follows.
  static func beginLink(in writer: inout ByteWriter) { writer.byte(Parts.link.rawValue) }

  /// Whether an object's own entry leads to the entry of its row, whose key follows.
  static func isLink(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    !range.isEmpty && bytes[range.lowerBound] == Parts.link.rawValue
  }

  /// The key of the row's entry to which an object's own entry leads; nil if it contains the facts.
  static func rowKey(in data: Data) -> Data? { data.first == Parts.link.rawValue ? Data(data.dropFirst()) : nil }

  /// Writes the object.
  ///
  /// - Parameter sources: The bytes with the facts' contents.
  func write(to writer: inout ByteWriter, _ sources: [[UInt8]]) {
    write(to: &writer) { $1.counted(sources[$0.source][$0.content]) }
  }

  /// - Parameter writeContent: Writes the content of a fact after its count.
  private func write(to writer: inout ByteWriter, _ writeContent: (Fact, inout ByteWriter) -> Void) {
    var parts: Parts = hasOthers ? .others : []
    if hasUnions { parts.insert(.unions) }
    if hasMembers { parts.insert(.members) }
    if row != nil { parts.insert(.row) }
    if !uniqueKeys.isEmpty { parts.insert(.uniqueKeys) }
    if life != nil { parts.insert(.life) }
    writer.byte(parts.rawValue)
    if let row {
      writer.counted(row.root)
      writer.counted(row.entity)
      writer.number(UInt64(bitPattern: row.key))
    }
    if !uniqueKeys.isEmpty {
      writer.number(UInt64(uniqueKeys.count))
      for key in uniqueKeys { writer.counted(key) }
    }
    if let life {
      writer.number(UInt64(life.count))
      writer.number(UInt64(life.head))
    }
    let count = life?.count ?? 0
    var last = Stamp(time: 0, replica: Stamp.origin)
    for fact in facts {
      var parts: FactParts = []
      if fact.stamp != last { parts.insert(.stamp) }
      if fact.life != count { parts.insert(.life) }
      if fact.otherLife != 0 { parts.insert(.otherLife) }
      writer.number(UInt64(fact.head))
      writer.byte(parts.rawValue)
      if parts.contains(.stamp) {
        writer.fixed(fact.stamp.time)
        writer.uuid(fact.stamp.replica)
      }
      if parts.contains(.life) { writer.number(UInt64(fact.life)) }
      if parts.contains(.otherLife) { writer.number(UInt64(fact.otherLife)) }
      writeContent(fact, &writer)
      last = fact.stamp
    }
  }
}

extension PackedFacts {
  /// The packed parts of an object.
  ///
  /// - Returns: Nil if nothing is to be packed.
  static func data(
    _ object: ObjectFacts, row: SyncTables.RowID?, uniqueKeys: [Data], _ heads: FactHeads
  ) throws -> Data? {
    var packed = PackedFacts()
    (packed.hasOthers, packed.hasUnions) = (object.hasOthers, !object.unions.isEmpty)
    packed.hasMembers = !object.parts.isEmpty
    (packed.row, packed.uniqueKeys) = (row, uniqueKeys)
    if let life = object.life, !object.separate.contains(.life), let number = try heads.number(of: life.head) {
      packed.life = (life.count, number)
    }
    var contents: [Data] = []
    func add(_ head: FactHead, _ register: Register) throws {
      guard !object.separate.contains(head), let number = try heads.number(of: head) else { return }
      packed.facts.append(
        Fact(
          head: number, life: register.life, otherLife: register.otherLife, stamp: register.stamp,
          source: contents.count, content: 0..<register.content.count))
      contents.append(register.content)
    }
    for (property, register) in object.values { try add(.value(property), register) }
    for (property, register) in object.owners { try add(.owner(property), register) }
    guard !packed.isEmpty else { return nil }
    var writer = ByteWriter()
    packed.write(to: &writer) { $1.counted(contents[$0.source]) }
    return writer.data
  }

  /// Adds the packed facts to those of an object.
  static func read(_ data: Data, into object: ObjectFacts, _ heads: FactHeads) throws -> PackedFacts {
    let bytes = [UInt8](data)
    let packed = try PackedFacts(bytes, source: 0)
    object.hasOthers = packed.hasOthers
    if let (count, number) = packed.life, case .value(let entity) = try heads.head(number) {
      object.life = Life(count: count, model: entity.model, entity: entity.entity)
    }
    for fact in packed.facts {
      let register = Register(
        life: fact.life, otherLife: fact.otherLife, stamp: fact.stamp, content: Data(bytes[fact.content]))
      switch try heads.head(fact.head) {
      case .value(let property): object.values[property] = register
      case .owner(let property): object.owners[property] = register
      case .life, .union, .member, .place, .part: throw SyncFormat.error("A fact has an unknown kind.")
      }
    }
    return packed
  }
}

extension Life {
  /// A head for the model and the entity, which many objects have in common.
  var head: FactHead { .value(PropertyName(model: model, entity: entity, name: "")) }
}
