/// Maps the properties that a class declares to their slots in objects of one entity.
///
/// A declared property stores a key in each object; an access finds the slot by key with one multiplication and one
/// comparison, in a table without collisions. If two classes in an inheritance chain happen to have the same key, the
/// declaring class decides; those properties take a slower path.
@usableFromInline final class SlotTable: Sendable {
  /// An entry of the table. Entry 0 contains the hash parameters: its key is the multiplier, its slot the shift.
  @frozen @usableFromInline struct Entry: Sendable {
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

  /// The initial value of a slot in a new object.
  ///
  /// `@unchecked Sendable`: the closure is a property's default, which captures nothing.
  struct InitialValue: @unchecked Sendable {
    let slot: Int
    let make: () -> StoredValue
  }

  let members: [Member]
  /// The initial values that the class declares, by slot.
  private let initialValues: ContiguousArray<InitialValue?>
  /// The slots with an initial value.
  let initialSlots: [Int]
  /// The reason why objects of the entity can't have this class, or nil if they can.
  let mismatchReason: String?
  /// Allocated for the life of the table. `nonisolated(unsafe)`: filled before the table is shared, and never changed.
  nonisolated(unsafe) let entries: UnsafePointer<Entry>

  init(_ members: [Member], initialValues: [InitialValue] = [], mismatchReason: String? = nil) {
    self.members = members
    var bySlot = ContiguousArray<InitialValue?>(repeating: nil, count: (initialValues.map(\.slot).max() ?? -1) + 1)
    for value in initialValues { bySlot[value.slot] = value }
    self.initialValues = bySlot
    initialSlots = bySlot.indices.filter { bySlot[$0] != nil }
    self.mismatchReason = mismatchReason
    let known = Dictionary(grouping: members, by: \.key).compactMapValues { $0.count == 1 ? $0[0].slot : nil }
    entries = UnsafePointer(Self.makeTableWithoutCollisions(known))
  }

  deinit { entries.deallocate() }

  /// The entries that an object stores. Traps for an object of a class that was generated for another model.
  var entriesOfFittingClass: UnsafePointer<Entry> {
    if let mismatchReason { preconditionFailure(mismatchReason) }
    return entries
  }

  /// A table without entries.
  static let empty = SlotTable([])

  /// Returns the initial values of a new object by slot: the class's values, or else the model's.
  func values(orElse modelValues: SlotValues) -> SlotValues {
    var values = modelValues
    for slot in initialValues.indices {
      if let value = initialValue(at: slot) { values.set(value, at: slot) }
    }
    return values
  }

  /// Creates the initial value that the class declares for a slot; nil if there is none.
  func initialValue(at slot: Int) -> StoredValue? { slot < initialValues.count ? initialValues[slot]?.make() : nil }

  /// Returns the slot of a property that a class declares, or nil if there is none.
  func slot(of key: UInt32, declaredBy owner: ObjectIdentifier) -> Int? {
    members.first { $0.key == key && $0.owner == owner }?.slot
  }

  /// Builds a table in which every key has its own entry, growing it until a multiplier without collisions is found.
  /// With twice as many entries as the square of the number of keys, nearly every multiplier works.
  private static func makeTableWithoutCollisions(_ slots: [UInt32: Int]) -> UnsafeMutablePointer<Entry> {
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
  /// Returns the slot of a key, or -1 if the key is unknown or ambiguous.
  @inlinable @inline(__always)
  static func find(_ key: UInt32, in entries: UnsafePointer<Entry>) -> Int {
    let place = (key &* entries[0].key) &>> UInt32(truncatingIfNeeded: entries[0].slot)
    let entry = entries[1 + Int(place)]
    return entry.key == key ? Int(entry.slot) : -1
  }
}

/// The slot tables of an entity's layout, one for each of its classes.
final class SlotTables: Sendable {
  // A list, because an entity has few classes, and a dictionary for each entity takes longer to create.
  private let tables = LockProtected<[(type: ObjectIdentifier, table: SlotTable)]>([])

  /// Returns the table of a class, creating it if necessary. If threads race, the first table is used by all.
  func table(of type: ObjectIdentifier, make: () -> SlotTable) -> SlotTable {
    if let known = tables.withLock({ $0.first { $0.type == type }?.table }) { return known }
    let made = make()
    return tables.withLock { tables in
      if let first = tables.first(where: { $0.type == type })?.table { return first }
      tables.append((type, made))
      return made
    }
  }
}
