import Foundation
import Persist

/// Captures of nothing but changed attributes, whose facts are read and written as bytes, many objects at once.
///
/// The facts are those of ``captureAttributes(_:of:_:)``.
extension CapturePass {
  /// A changed attribute of the rows of an entity.
  private struct Change {
    var attribute: SyncSchema.Attribute
    /// The number of the property's head in the store.
    var head: Int
    /// The place of the head among those of ``ValueFacts``.
    var place: Int
  }

  /// An object with a changed row.
  private struct ChangedObject {
    var identity: Identity
    /// The bytes that contain its packed facts.
    var bytes: [UInt8]
    var packed: Range<Int>
    /// Whether they are in the entry of the row.
    var isWithRow: Bool
  }

  /// The facts about properties that a capture needs for each row.
  private struct Properties {
    private struct Key: Hashable {
      var entity: Int
      var number: Int
    }

    private var attributes: [String: [String: [Change]?]] = [:]
    private var names: [Key: String?] = [:]
    /// Most rows of a transaction are changed in the same properties.
    private var last: (entity: Entity, names: Set<String>, changes: [Change])?

    /// The attributes of properties; nil if one of these needs more than this.
    mutating func changes(
      of names: Set<String>, _ entity: Entity, _ step: SyncStep, _ values: inout ValueFacts
    ) throws -> [Change]? {
      if let last, last.entity === entity, last.names == names { return last.changes }
      var all: [Change] = []
      for name in names {
        guard let changes = try changes(of: name, entity, step, &values) else { return nil }
        all += changes
      }
      last = (entity, names, all)
      return all
    }

    private mutating func changes(
      of name: String, _ entity: Entity, _ step: SyncStep, _ values: inout ValueFacts
    ) throws -> [Change]? {
      if let known = attributes[entity.name]?[name] { return known }
      let part = step.schema[entity]
      // Each store computes derived attributes of its own.
      let isDerived = entity.property(named: name)?.attribute?.isDerived == true
      var all = isDerived || part.attributesByProperty[name] != nil ? [Change]() : nil
      for index in part.attributesByProperty[name] ?? [] {
        let attribute = part.attributes[index]
        let head = FactHead.value(PropertyName(model: step.map.tag, entity: entity.name, name: attribute.name))
        guard !part.constrained.contains(attribute.name), let number = try step.tables.heads.number(of: head) else {
          all = nil
          break
        }
        all?.append(Change(attribute: attribute, head: number, place: values.addHead(head)))
      }
      attributes[entity.name, default: [:]].updateValue(all, forKey: name)
      return all
    }

    /// The own name of the property of a head; nil if there is none.
    mutating func name(of number: Int, in entity: Entity, _ step: SyncStep) throws -> String? {
      let key = Key(entity: entity.number, number: number)
      if let known = names[key] { return known }
      var name: String?
      if case .value(let property) = try step.tables.heads.head(number) {
        name = try step.map.name(of: property, in: entity)
      }
      names.updateValue(name, forKey: key)
      return name
    }
  }

  /// Makes the facts of all changes, and the entries to write.
  ///
  /// - Returns: False if a change needs more than this, and then nothing was done.
  mutating func captureAsBytes() throws -> Bool {
    guard !isBirth, !record.isFresh, formerMap == nil, step.map.mappings.isEmpty else { return false }
    let changes = changes.all
    guard changes.allSatisfy({ $0.isOfProperties }) else { return false }
    if changes.isEmpty { return true }
    guard try tables.entry(FactKey.model(step.map.tag).bytes) != nil else { return false }
    let ids = self.changes.order
    let rows = try step.store.rows(ids)
    guard let objects = try changedObjects(ids) else { return false }
    var properties = Properties()
    var values = ValueFacts()
    var entries: [AttachedEntry] = []
    entries.reserveCapacity(ids.count)
    var writer = ByteWriter()
    for (index, object) in objects.enumerated() {
      guard let row = rows[index] else { return false }
      var sources = [object.bytes]
      var packed = try PackedFacts(object.bytes, object.packed, source: 0)
      guard let life = packed.life, life.count % 2 == 1, !packed.hasUnions, packed.row == ids[index] else {
        return false
      }
      let key = FactKey.prefix(of: object.identity)
      var isChanged = false
      for update in changes[index].lastUpdates {
        guard let attributes = try properties.changes(of: update.names, row.entity, step, &values) else { return false }
        for change in attributes {
          if try mayHaveMembers(change.attribute, row, isChanged: packed.hasMembers) { return false }
          let found = try lastFact(of: change, packed, life.count, sources, row.entity, &properties)
          guard let found else { return false }
          let content = PortableValue.bytes(try step.store.value(change.attribute, in: row))
          guard content.count <= PackedFacts.maximum.size else { return false }
          if let last = found.last, content.elementsEqual(sources[last.source][last.content]) { continue }
          let fact = PackedFacts.Fact(
            head: change.head, life: life.count, otherLife: 0, stamp: stamp(update.time, after: found.last?.stamp),
            source: sources.count, content: 0..<content.count)
          sources.append([UInt8](content))
          if let own = found.own { packed.facts[own] = fact } else { packed.facts.append(fact) }
          if !isChanged { values.addObject(key) }
          isChanged = true
          values.add(head: change.place, life: life.count, stamp: fact.stamp, content: sources[fact.source][...])
        }
      }
      guard isChanged else { continue }
      let rowKey = SyncTables.key(of: ids[index])
      writer.removeAll()
      RowEntry.begin(object.identity, in: &writer)
      packed.write(to: &writer, sources)
      entries.append(AttachedEntry(key: rowKey, value: writer.data))
      if !object.isWithRow { entries.append(AttachedEntry(key: key, value: PackedFacts.link(to: rowKey))) }
    }
    values.sort()
    self.values = values
    entries.sort { $0.key.precedes($1.key) }
    self.entries = entries
    return true
  }

  /// The objects of rows; nil if one has none or several, or the row of one isn't known.
  private func changedObjects(_ ids: [SyncTables.RowID]) throws -> [ChangedObject]? {
    let keys = ids.map { SyncTables.key(of: $0) }
    let found = try tables.history.attachedValues(keys.sorted { $0.precedes($1) })
    var objects: [ChangedObject] = []
    objects.reserveCapacity(ids.count)
    var others: [(place: Int, key: Data)] = []
    for key in keys {
      guard let data = found[key] else { return nil }
      if RowEntry.isAlone(data) {
        let bytes = [UInt8](data)
        let (identity, packed) = try RowEntry.alone(bytes)
        objects.append(ChangedObject(identity: identity, bytes: bytes, packed: packed, isWithRow: true))
      } else {
        let all = try RowEntry.identities(data)
        guard let identity = all.first, all.count == 1 else { return nil }
        others.append((objects.count, FactKey.prefix(of: identity)))
        objects.append(ChangedObject(identity: identity, bytes: [], packed: 0..<0, isWithRow: false))
      }
    }
    // Those that haven't changed since all facts were in the objects' own entries.
    let packed = others.isEmpty ? [] : try tables.packed(others.map(\.key))
    for ((place, _), found) in zip(others, packed) {
      guard let found, found.rowKey == nil else { return nil }
      objects[place].bytes = [UInt8](found.packed)
      objects[place].packed = 0..<found.packed.count
    }
    return objects
  }

  /// The last fact about the value of an attribute, and the place of the fact that its change replaces.
  ///
  /// - Returns: Nil if the value isn't among the packed facts, or can't be.
  private func lastFact(
    of change: Change, _ packed: PackedFacts, _ life: UInt32, _ sources: [[UInt8]], _ entity: Entity,
    _ properties: inout Properties
  ) throws -> (last: PackedFacts.Fact?, own: Int?)? {
    var last: PackedFacts.Fact?
    var own: Int?
    for (place, fact) in packed.facts.enumerated() {
      if fact.head == change.head { own = place }
      guard fact.life == life, try properties.name(of: fact.head, in: entity, step) == change.attribute.name else {
        continue
      }
      if PortableValue.isLarge(sources[fact.source], fact.content) { return nil }
      guard let known = last else {
        last = fact
        continue
      }
      func register(_ fact: PackedFacts.Fact) -> Register {
        Register(
          life: fact.life, otherLife: fact.otherLife, stamp: fact.stamp,
          content: Data(sources[fact.source][fact.content]))
      }
      if Register.isLater(register(fact), than: register(known)) { last = fact }
    }
    // It may be an entry of its own.
    if own == nil, packed.hasOthers || packed.facts.count >= PackedFacts.maximum.count { return nil }
    return (last, own)
  }
}
