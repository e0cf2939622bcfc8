import Foundation
import Persist

/// Applies changes of nothing but attributes of known objects, of which most change sets consist.
///
/// It has the result of ``PlainPass``. Since it needs neither new rows nor references, it changes the entries of rows
/// without taking them apart, in the order of the rows. It doesn't read the rows either: the entries show which values
/// change, and the step is written only if the history has nothing that they don't know.
struct ValuePass {
  private let step: SyncStep
  private let tables: [FactTable]
  private let limit: UInt64
  private let readsRows: Bool
  private(set) var writes = RowWrites()
  private(set) var problems: [SyncProblem] = []
  /// The entries to write, in the order of their keys.
  private(set) var entries = AttachedList()
  /// The latest time of a change that isn't too far in the future.
  private(set) var latest: UInt64 = 0
  private var heads = HeadUses()
  private var entities = EntityUses()
  /// The numbers of the tables' heads in the store.
  private var numbers: [[Int]] = []
  /// Whether a replica of a table has made one of the changes.
  private var isUsed: [[Bool]]
  private var objects: [Object] = []
  private var rows: [ChangedRow] = []
  private var values: [ChangedValue] = []
  private var lastSlots: [Int] = []
  /// Most facts are about one property.
  private var lastAttribute: (head: Int, entity: Entity, index: Int)?

  /// An object with facts in a table.
  private struct Object {
    var table: Int
    /// Their places among the entries of the table.
    var facts: Range<Int>
  }

  /// A row with changed values.
  private struct ChangedRow {
    var entity: Entity
    var key: Int64
    /// Their places among ``values``.
    var values: Range<Int>
  }

  /// A new value of an attribute.
  private struct ChangedValue {
    /// The place of the attribute among those of the entity.
    var attribute: Int
    var table: Int
    /// The place among the bytes of the table.
    var content: Range<Int>
    /// Whether it is equal to the former one; nil if none was known, and the row has the default value.
    var isEqual: Bool?
  }

  /// - Parameters:
  ///   - limit: The latest time that raises the replica's.
  ///   - readsRows: Whether to leave out rows that don't exist, as after a deletion that the history doesn't have.
  init(_ tables: [FactTable], _ step: SyncStep, upTo limit: UInt64, readsRows: Bool) {
    (self.tables, self.step, self.limit, self.readsRows) = (tables, step, limit, readsRows)
    isUsed = tables.map { Array(repeating: false, count: $0.replicas.count) }
  }

  /// The replicas that made the changes.
  var replicas: Set<UUID> {
    var all: Set<UUID> = []
    for (table, isUsed) in zip(tables, isUsed) {
      for (replica, isUsed) in zip(table.replicas, isUsed) where isUsed { all.insert(replica) }
    }
    return all
  }

  /// Computes the writes.
  ///
  /// - Returns: False if a fact needs more than this, and then nothing may be written.
  mutating func run() throws -> Bool {
    guard try readHeads(), let keys = objectKeys() else { return false }
    guard let rowKeys = try rowKeys(of: keys) else { return false }
    let sorted = SortedKeys(rowKeys)
    guard sorted.areDifferent else { return false }
    let found = try step.tables.history.attachedValues(of: sorted.keys)
    entries.reserveCapacity(sorted.order.count, bytes: sorted.keys.bytes.count + 5 * found.bytes.count / 4)
    var packed = PackedValues()
    var (writer, changed) = (ByteWriter(), [PackedValues.Change]())
    for (index, place) in sorted.order.enumerated() {
      let key = keys[place]
      // The entry was that of another object by the time at which it was read, or is that of several ones.
      guard let entry = found.places[index], try packed.read(found.bytes, entry),
        found.bytes.isEqual(packed.countedIdentity, to: keys.bytes, key.dropFirst())
      else { return false }
      changed.removeAll(keepingCapacity: true)
      guard try join(objects[place], to: packed, found.bytes, &changed) else { return false }
      if changed.isEmpty { continue }
      writer.removeAll()
      packed.write(found.bytes, with: changed, contents: tables[objects[place].table].bytes, to: &writer)
      entries.append(sorted.keys.bytes[sorted.keys[index]], writer.bytes)
    }
    try writeRows()
    return true
  }

  // MARK: Facts

  /// - Returns: False if there are other facts than those about values.
  private mutating func readHeads() throws -> Bool {
    for table in tables {
      var own: [Int] = []
      for head in table.heads {
        guard let head else {
          own.append(-1)
          continue
        }
        guard case .value = head, let number = try step.tables.heads.number(of: head) else { return false }
        own.append(number)
      }
      numbers.append(own)
    }
    return true
  }

  /// The keys of the objects' own entries; nil if they aren't in ascending order.
  private mutating func objectKeys() -> ByteList? {
    var keys = ByteList()
    for (index, table) in tables.enumerated() {
      for object in table.objects {
        keys.append(object.key)
        objects.append(Object(table: index, facts: object.facts))
      }
    }
    let isAscending = (0..<keys.count).dropFirst().allSatisfy {
      keys.bytes.order(keys[$0 - 1], beside: keys.bytes, keys[$0]) < 0
    }
    return isAscending ? keys : nil
  }

  /// The keys of the rows' entries, to which the objects' own entries lead; nil if one of these does not.
  private func rowKeys(of keys: ByteList) throws -> ByteList? {
    let found = try step.tables.history.attachedValues(of: keys)
    var rowKeys = ByteList()
    rowKeys.reserveCapacity(keys.count, bytes: found.bytes.count)
    for place in found.places {
      guard let place, PackedFacts.isLink(found.bytes, place) else { return nil }
      rowKeys.append(found.bytes[place.dropFirst()])
    }
    return rowKeys
  }

  /// Adds the facts about an object to those in the store.
  ///
  /// - Parameter changed: The facts that change.
  /// - Returns: False if one of them needs more than this.
  private mutating func join(
    _ object: Object, to packed: PackedValues, _ bytes: [UInt8], _ changed: inout [PackedValues.Change]
  ) throws -> Bool {
    guard let life = packed.life, life.count % 2 == 1, packed.parts.isDisjoint(with: [.unions, .members]),
      let row = packed.row, case .entity(let entity) = try entities.use(of: life.head, step),
      bytes.hasText(entity.name, at: row.entity)
    else { return false }
    let (table, first) = (tables[object.table], values.count)
    for place in object.facts {
      let entry = table.entries[place]
      guard entry.life <= life.count, entry.otherLife == 0, entry.content.count <= PackedFacts.maximum.size,
        !PortableValue.isLarge(table.bytes, entry.content)
      else { return false }
      // The object was deleted since.
      if entry.life < life.count { continue }
      let head = numbers[object.table][Int(entry.head)]
      guard let attribute = try attribute(of: head, entity) else { return false }
      if values[first...].contains(where: { $0.attribute == attribute }) { return false }
      var own: Int?
      for (index, fact) in packed.facts.enumerated() {
        if fact.head == head {
          if PortableValue.isLarge(bytes, fact.content) { return false }
          own = index
        } else if try heads.use(of: fact.head, in: entity, step) == .attribute(attribute) {
          // Another version of the model has named it differently.
          return false
        }
      }
      let stamp = table.stamp(of: entry)
      if let own {
        let fact = packed.facts[own]
        guard fact.life == entry.life, fact.otherLife == 0 else { return false }
        if fact.order(beside: stamp, entry.content, of: table.bytes, bytes) >= 0 { continue }
      } else if packed.parts.contains(.others) || packed.facts.count + changed.count >= PackedFacts.maximum.count {
        // It may be an entry of its own.
        return false
      }
      changed.append(PackedValues.Change(place: own, head: head, stamp: stamp, content: entry.content))
      let isEqual = own.map { bytes.isEqual(packed.facts[$0].content, to: table.bytes, entry.content) }
      values.append(
        ChangedValue(attribute: attribute, table: object.table, content: entry.content, isEqual: isEqual))
      isUsed[object.table][Int(entry.replica)] = true
      if entry.time <= limit { latest = max(latest, entry.time) }
    }
    if values.count > first { rows.append(ChangedRow(entity: entity, key: row.key, values: first..<values.count)) }
    return true
  }

  /// The attribute of a head on which no other row depends; nil for others.
  private mutating func attribute(of head: Int, _ entity: Entity) throws -> Int? {
    if let last = lastAttribute, last.head == head, last.entity === entity { return last.index }
    guard case .attribute(let index) = try heads.use(of: head, in: entity, step) else { return nil }
    let part = step.schema[entity]
    let attribute = part.attributes[index]
    guard attribute.path.isEmpty, !part.constrained.contains(attribute.name) else { return nil }
    lastAttribute = (head, entity, index)
    return index
  }

  // MARK: Rows

  private mutating func writeRows() throws {
    let store = step.store
    let present = readsRows ? try store.rows(rows.map { store.row($0.entity, $0.key) }) : []
    writes.updates.reserveCapacity(rows.count)
    var last: SyncSchema.EntityPart?
    for (place, changed) in rows.enumerated() {
      let row = readsRows ? present[place] : nil
      if readsRows, row == nil { continue }
      if last?.entity !== changed.entity { last = step.schema[changed.entity] }
      guard let part = last else { continue }
      var new = SlotValues()
      var slots: [Int] = []
      for value in values[changed.values] {
        let attribute = part.attributes[value.attribute]
        let content = try PortableValue.content(tables[value.table].bytes, value.content)
        let stored = attribute.value(of: content) ?? attribute.defaultValue
        if stored.isNull, changed.entity.properties[attribute.slot].isRequired {
          problems.append(
            SyncProblem(objectID: store.identifier(changed.entity, changed.key), missing: attribute.name))
        }
        // The row has the value already.
        if value.isEqual ?? (stored == attribute.defaultValue) { continue }
        if let row, try store.value(attribute, in: row) == stored { continue }
        slots.append(attribute.slot)
        if !stored.isNull { new[attribute.slot] = stored }
      }
      guard !slots.isEmpty else { continue }
      slots.sort()
      // Most rows change in the same attributes, and share the list of these.
      if slots != lastSlots { lastSlots = slots }
      writes.updates.append(
        .init(
          key: .permanent(changed.key), entity: changed.entity, version: row?.snapshot.version, slots: lastSlots,
          values: new))
    }
  }
}
