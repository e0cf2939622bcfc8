import Foundation
import Persist

/// Captures of nothing but changed attributes, whose facts are read and written as bytes, many objects at once.
///
/// The facts are those of ``captureAttributes(_:of:_:)``.
extension CapturePass {
  /// A changed attribute of the rows of an entity.
  private struct ChangedAttribute {
    var attribute: SyncSchema.Attribute
    /// Its place among those of the entity.
    var index: Int
    /// The number of the property's head in the store.
    var head: Int
    /// The place of the head among those of ``ValueFacts``.
    var place: Int
  }

  /// The facts about properties that a capture needs for each row.
  private struct Properties {
    private let step: SyncStep
    private var attributes: [String: [String: [ChangedAttribute]?]] = [:]
    /// Most rows of a transaction are changed in the same properties.
    private var last: (entity: Entity, names: Set<String>, changes: [ChangedAttribute])?
    /// The attributes by the numbers of entities and heads.
    private var uses = HeadUses()

    init(_ step: SyncStep) { self.step = step }

    /// The attributes of properties; nil if one of these needs more than this.
    mutating func changes(
      of names: Set<String>, _ entity: Entity, _ values: inout ValueFacts
    ) throws -> [ChangedAttribute]? {
      if let last, last.entity === entity, last.names == names { return last.changes }
      var all: [ChangedAttribute] = []
      for name in names {
        guard let changes = try changes(of: name, entity, &values) else { return nil }
        all += changes
      }
      last = (entity, names, all)
      return all
    }

    private mutating func changes(
      of name: String, _ entity: Entity, _ values: inout ValueFacts
    ) throws -> [ChangedAttribute]? {
      if let known = attributes[entity.name]?[name] { return known }
      let part = step.schema[entity]
      // Each store computes derived attributes of its own.
      let isDerived = entity.property(named: name)?.attribute?.isDerived == true
      var all = isDerived || part.attributesByProperty[name] != nil ? [ChangedAttribute]() : nil
      for index in part.attributesByProperty[name] ?? [] {
        let attribute = part.attributes[index]
        let head = FactHead.value(PropertyName(model: step.map.tag, entity: entity.name, name: attribute.name))
        guard !part.constrained.contains(attribute.name), let number = try step.tables.heads.number(of: head) else {
          all = nil
          break
        }
        all?.append(
          ChangedAttribute(attribute: attribute, index: index, head: number, place: values.addHead(head)))
      }
      attributes[entity.name, default: [:]].updateValue(all, forKey: name)
      return all
    }

    /// The last fact about the value of an attribute, and the place of the fact that its change replaces.
    ///
    /// - Returns: Nil if the value isn't among the packed facts, or can't be.
    mutating func lastFact(
      of change: ChangedAttribute, in packed: PackedValues, of life: UInt32, bytes: [UInt8], _ entity: Entity
    ) throws -> (last: PackedValues.Fact?, own: Int?)? {
      var last: PackedValues.Fact?
      var own: Int?
      for (place, fact) in packed.facts.enumerated() {
        if fact.head == change.head { own = place }
        guard fact.life == life, try uses.use(of: fact.head, in: entity, step) == .attribute(change.index) else {
          continue
        }
        if PortableValue.isLarge(bytes, fact.content) { return nil }
        if last.map({ fact.isLater(than: $0, bytes) }) ?? true { last = fact }
      }
      // It may be an entry of its own.
      if own == nil, packed.parts.contains(.others) || packed.facts.count >= PackedFacts.maximum.count { return nil }
      return (last, own)
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
    let (sorted, found) = try rowEntries(of: self.changes.order)
    let ids = sorted.order.map { self.changes.order[$0] }
    let rows = try step.store.rows(ids)
    let bytes = found.bytes
    var properties = Properties(step)
    var (values, entries) = (ValueFacts(), AttachedList())
    entries.reserveCapacity(ids.count, bytes: sorted.keys.bytes.count + 5 * bytes.count / 4)
    var (packed, changed): (PackedValues, [PackedValues.Change]) = (PackedValues(), [])
    var (writer, content) = (ByteWriter(), ByteWriter())
    for (index, place) in sorted.order.enumerated() {
      guard let row = rows[index], let entry = found.places[index], try packed.read(bytes, entry),
        let life = packed.life?.count, life % 2 == 1, !packed.parts.contains(.unions),
        packed.isRow(ids[index], in: bytes)
      else { return false }
      changed.removeAll(keepingCapacity: true)
      for update in changes[place].lastUpdates {
        guard let attributes = try properties.changes(of: update.names, row.entity, &values) else { return false }
        for change in attributes {
          let value = try step.store.value(change.attribute, in: row)
          if Self.mayHaveMembers(change.attribute, value, isChanged: packed.parts.contains(.members)) { return false }
          let found = try properties.lastFact(of: change, in: packed, of: life, bytes: bytes, row.entity)
          guard let (last, own) = found else { return false }
          content.removeAll()
          PortableValue.write(value, to: &content)
          guard content.bytes.count <= PackedFacts.maximum.size else { return false }
          if let last, bytes.isEqual(last.content, to: content.bytes, 0..<content.bytes.count),
            !change.attribute.path.isEmpty || !changes[place].isRepeated(change.attribute.name)
          {
            continue
          }
          if changed.isEmpty { values.addObject(bytes[packed.countedIdentity]) }
          let stamp = stamp(update.time, after: last?.stamp)
          let place = values.add(head: change.place, life: life, stamp: stamp, content: content.bytes[...])
          changed.append(PackedValues.Change(place: own, head: change.head, stamp: stamp, content: place))
        }
      }
      guard !changed.isEmpty else { continue }
      writer.removeAll()
      packed.write(bytes, with: changed, contents: values.bytes, to: &writer)
      entries.append(sorted.keys.bytes[sorted.keys[index]], writer.bytes)
    }
    values.sort()
    (self.values, self.entries) = (values, entries)
    return true
  }

  /// The entries of rows.
  private func rowEntries(of ids: [SyncTables.RowID]) throws -> (keys: SortedKeys, values: AttachedValues) {
    let sorted = SortedKeys(SyncTables.keys(of: ids))
    return (sorted, try tables.history.attachedValues(of: sorted.keys))
  }
}
