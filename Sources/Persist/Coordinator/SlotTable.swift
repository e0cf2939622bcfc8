/// Where the properties that a class declares stand in the objects of one entity.
///
/// A declared property leaves a key in each object, and an access finds the slot by it: one multiplication and one
/// comparison, in a table without collisions. Where two classes of one line of inheritance happen to have the same key,
/// the class that declares the property decides; those are found the slow way.
public final class SlotTable: Sendable {
  /// One place of the table. Place 0 says how keys are spread: its key is the multiplier, its slot the shift.
  @frozen public struct Entry: Sendable {
    @usableFromInline let key: UInt32
    @usableFromInline let slot: Int32
  }

  /// A declared property with its slot.
  struct Member: Sendable {
    let key: UInt32
    /// The class that declares the property.
    let owner: ObjectIdentifier
    let slot: Int
  }

  /// What a new object has in a slot.
  ///
  /// `@unchecked Sendable`: the closure is a property's default, which captures nothing.
  struct InitialValue: @unchecked Sendable {
    let slot: Int
    let make: () -> StoredValue
  }

  let members: [Member]
  /// What new objects have, by slot, as far as the class says anything.
  private let initialValues: ContiguousArray<InitialValue?>
  /// Why objects of the entity can't be of the class; nil where they can.
  let misfit: String?
  /// Lives as long as the table. `nonisolated(unsafe)`: it is filled before anybody sees the table, and never changed.
  nonisolated(unsafe) let entries: UnsafePointer<Entry>

  init(_ members: [Member], initialValues: [InitialValue] = [], misfit: String? = nil) {
    self.members = members
    var bySlot = ContiguousArray<InitialValue?>(repeating: nil, count: (initialValues.map(\.slot).max() ?? -1) + 1)
    for value in initialValues { bySlot[value.slot] = value }
    self.initialValues = bySlot
    self.misfit = misfit
    let known = Dictionary(grouping: members, by: \.key).compactMapValues { $0.count == 1 ? $0[0].slot : nil }
    entries = UnsafePointer(Self.spread(known))
  }

  deinit { entries.deallocate() }

  /// What an object keeps. An object of a generated class that was made for another model stops the program.
  var entriesOfFittingClass: UnsafePointer<Entry> {
    if let misfit { preconditionFailure(misfit) }
    return entries
  }

  /// Finds nothing.
  static let empty = SlotTable([])

  /// What a new object of the class has, by slot: what the class says, else what the model does.
  func values(orElse modelValues: ContiguousArray<StoredValue?>) -> ContiguousArray<StoredValue?> {
    if initialValues.isEmpty { return modelValues }
    // Every slot is written once: values of the model's that the class's replace aren't copied first.
    return ContiguousArray(unsafeUninitializedCapacity: modelValues.count) { values, count in
      for slot in modelValues.indices {
        values.initializeElement(at: slot, to: initialValue(at: slot) ?? modelValues[slot])
        count = slot + 1
      }
    }
  }

  /// What the class says that a new object has in a slot, made anew; nil for nothing.
  func initialValue(at slot: Int) -> StoredValue? { slot < initialValues.count ? initialValues[slot]?.make() : nil }

  /// The slot of a property that a class declares, nil for none.
  func slot(of key: UInt32, declaredBy owner: ObjectIdentifier) -> Int? {
    members.first { $0.key == key && $0.owner == owner }?.slot
  }

  /// A table in which every key has a place of its own. Tables grow until a multiplier is found that gives them one;
  /// with twice as many places as the square of the keys nearly every multiplier does.
  private static func spread(_ slots: [UInt32: Int]) -> UnsafeMutablePointer<Entry> {
    var multiplier: UInt32 = 0x9E37_79B1
    var bits: UInt32 = 1
    while 1 << bits < slots.count * 2 { bits += 1 }
    while true {
      for _ in 0..<64 {
        let shift = 32 - bits
        let places = Set(slots.keys.map { ($0 &* multiplier) >> shift })
        if places.count == slots.count {
          let count = (1 << Int(bits)) + 1
          let entries = UnsafeMutablePointer<Entry>.allocate(capacity: count)
          entries.initialize(repeating: Entry(key: 0, slot: 0), count: count)
          entries[0] = Entry(key: multiplier, slot: Int32(shift))
          for (key, slot) in slots {
            entries[1 + Int((key &* multiplier) >> shift)] = Entry(key: key, slot: Int32(slot))
          }
          return entries
        }
        multiplier = (multiplier &* 1_664_525 &+ 1_013_904_223) | 1
      }
      bits += 1
    }
  }
}

extension SlotTable {
  /// The slot of a key, -1 where it isn't known or isn't the only one of its kind.
  @inlinable @inline(__always)
  static func find(_ key: UInt32, in entries: UnsafePointer<Entry>) -> Int {
    let place = (key &* entries[0].key) &>> UInt32(truncatingIfNeeded: entries[0].slot)
    let entry = entries[1 + Int(place)]
    return entry.key == key ? Int(entry.slot) : -1
  }
}

/// The slot tables of an entity's layout, one for each class that serves it.
final class SlotTables: Sendable {
  private let tables = Guarded<[ObjectIdentifier: SlotTable]>([:])

  /// The table of a class; made where there is none yet. The first one made is everybody's.
  func table(of type: ObjectIdentifier, make: () -> SlotTable) -> SlotTable {
    if let table = tables.withLock({ $0[type] }) { return table }
    let made = make()
    return tables.withLock { tables in
      if let table = tables[type] { return table }
      tables[type] = made
      return made
    }
  }
}
