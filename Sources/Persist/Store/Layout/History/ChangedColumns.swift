package import Foundation

/// The bits of `ZCOLUMNS`, which record the columns of a row that an update changed.
///
/// The first bit is the most significant one of the first byte. There is one bit for each column of the entity, not of
/// its table, followed by one for each to-many relationship:
///
/// 1. the columns of to-one relationships, each preceded by the column of the destination's entity number, if any;
/// 2. the columns of attributes;
/// 3. to-many relationships.
///
/// Within each part, inherited properties come first, and properties of one entity are in the order of their names. The
/// order was inferred from stores of two versions of Core Data, by what their updates must have changed. The two
/// versions differed in the order of to-many relationships, and no entity had composite attributes or was a member of
/// an ordered relationship. Bits that depend on any of these can be interpreted only if Persist wrote them.
package struct ChangedColumns: Sendable {
  /// The slot of each bit's property.
  private let slots: [Int]
  /// The bits of each slot.
  private let bits: [Int: [Int]]
  private let names: [Int: String]
  /// The bits whose meaning depends on the framework that wrote them.
  private let ambiguousBits: Range<Int>
  /// Whether all bits have the same meaning for both frameworks, except the ambiguous ones.
  private let isShared: Bool

  package init(of entity: Entity, in map: TableMap) {
    let table = map[entity]
    // In the order of the slots: inherited properties first, and those of one entity by name.
    let properties = entity.properties.filter { !$0.isTransient }
    let toOnes = properties.filter(\.isToOne)
    var slots = (toOnes + properties.filter { $0.attribute != nil }).flatMap { property in
      table.columns.filter { $0.property == property.name }.map { _ in property.slot }
    }
    let toManys = properties.filter(\.isToMany).map(\.slot)
    ambiguousBits = toManys.count > 1 ? slots.count..<slots.count + toManys.count : slots.count..<slots.count
    slots += toManys
    self.slots = slots
    bits = Dictionary(grouping: slots.indices) { slots[$0] }
    names = Dictionary(uniqueKeysWithValues: properties.map { ($0.slot, $0.name) })
    let isMemberWithoutInverse = map.tables.contains { owner in
      owner.toMany.contains { slot, place in
        guard case .foreignKey(let key) = place, key.table == table.table,
          let relationship = owner.entity.properties[slot].relationship, relationship.inverse == nil
        else { return false }
        return true
      }
    }
    let hasComposites = properties.contains { $0.attribute?.type == .composite }
    isShared = table.orderColumns.isEmpty && !isMemberWithoutInverse && !hasComposites
  }

  /// The name of each bit's property.
  var order: [String] { slots.compactMap { names[$0] } }

  /// The length of the bits, in bytes.
  var byteCount: Int { (slots.count + 7) / 8 }

  /// The slots of the properties whose bits are set; nil for bits of another length.
  func slots(_ bytes: Data) -> Set<Int>? {
    guard bytes.count == byteCount else { return nil }
    let changed = slots.indices.filter { bytes[bytes.startIndex + $0 / 8] & (0x80 >> UInt8($0 % 8)) != 0 }
    return Set(changed.map { slots[$0] })
  }

  /// The bits in another layout.
  ///
  /// - Parameters:
  ///   - other: The layout of the same entity in another model.
  ///   - newNames: The names of the properties in the other model; those without a place there are missing.
  /// - Returns: Nil for bits of another length.
  package func translated(_ bytes: Data, to other: ChangedColumns, _ newNames: [String: String]) -> Data? {
    guard let changed = slots(bytes) else { return nil }
    let present = Set(changed.compactMap { slot in names[slot].flatMap { newNames[$0] } })
    return other.bytes(changing: other.names.filter { present.contains($0.value) }.keys)
  }

  /// The bits for changes of some slots.
  package func bytes(changing changed: some Sequence<Int>) -> Data {
    var bytes = [UInt8](repeating: 0, count: byteCount)
    for slot in changed {
      for bit in bits[slot] ?? [] { bytes[bit / 8] |= 0x80 >> UInt8(bit % 8) }
    }
    return Data(bytes)
  }

  /// The names of the changed properties; nil if the bits don't determine them.
  ///
  /// - Parameter isOwn: Whether Persist wrote the bits.
  package func names(_ bytes: Data, isOwn: Bool) -> Set<String>? {
    guard isOwn || isShared, bytes.count == byteCount else { return nil }
    var found = Set<String>()
    for (index, byte) in bytes.enumerated() where byte != 0 {
      for bit in 0..<8 where byte & (0x80 >> UInt8(bit)) != 0 {
        let place = index * 8 + bit
        guard slots.indices.contains(place), isOwn || !ambiguousBits.contains(place), let name = names[slots[place]]
        else { return nil }
        found.insert(name)
      }
    }
    return found
  }
}
