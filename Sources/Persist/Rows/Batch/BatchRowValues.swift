/// The values of a ``BatchInsertRow``: in a row of the form that stores read and bind, as far as they fit.
///
/// Nothing is allocated for a value or for a row: the memory is used again for the next row. Values that a row can't
/// contain, such as decimals, large ones, and those that need a conversion, are loose.
final class BatchRowValues {
  private struct Column {
    let values: DraftColumn
    let isAttribute: Bool
    /// Whether the attribute's numbers are of single precision: others need a conversion.
    let isFloat: Bool

    init(_ property: Property) {
      values = DraftColumn(property)
      isAttribute = property.attribute != nil
      isFloat = property.attribute?.type == .float
    }
  }

  /// By property slot.
  private let columns: [Column]
  private let slotCount: Int

  // Unchecked: one row at a time is filled, by the thread that inserts it, and nothing here calls out.

  /// The memory of the row, at offset 0.
  @exclusivity(unchecked) private var chunk: RowChunk
  /// The number of used bytes.
  @exclusivity(unchecked) private var end: Int
  /// By property slot; values of other slots are in the row.
  @exclusivity(unchecked) private var looseValues: ContiguousArray<StoredValue?>
  /// By property slot, whether the value is a loose one.
  @exclusivity(unchecked) private var isLoose: ContiguousArray<Bool>
  @exclusivity(unchecked) private var looseCount = 0
  /// The slots that have been set in the current row.
  @exclusivity(unchecked) private(set) var given = GivenSlots()

  /// The state of a row in which nothing is set, to which each row returns.
  @exclusivity(unchecked) private var initial: Initial

  private struct Initial {
    /// The fixed part and the bytes of the defaults.
    var bytes: [UInt8] = []
    var looseValues: ContiguousArray<StoredValue?> = []
    var isLoose: ContiguousArray<Bool> = []
    var looseCount = 0
  }

  /// Creates the values of a row with the defaults of an entity.
  init(_ entity: Entity) {
    columns = entity.properties.map(Column.init)
    slotCount = entity.rowSlotCount
    end = RowSnapshot.fixedSize(slotCount: slotCount)
    chunk = RowChunk(capacity: end * 2 + 256)
    looseValues = ContiguousArray(repeating: nil, count: columns.count)
    isLoose = ContiguousArray(repeating: false, count: columns.count)
    initial = Initial()
    fixedPart.setVersion(1)
    fixedPart.setAllNull(slotCount: slotCount)
    for (slot, property) in entity.properties.enumerated() {
      if let value = property.attribute?.defaultValue { put(value, at: slot) }
    }
    initial = Initial(
      bytes: Array(UnsafeRawBufferPointer(start: chunk.base, count: end)), looseValues: looseValues, isLoose: isLoose,
      looseCount: looseCount)
  }

  init(copying other: BatchRowValues) {
    (columns, slotCount) = (other.columns, other.slotCount)
    (chunk, end) = (Self.copy(other.chunk, other.end, capacity: other.chunk.capacity), other.end)
    (looseValues, isLoose, looseCount) = (other.looseValues, other.isLoose, other.looseCount)
    (given, initial) = (other.given, other.initial)
  }

  private static func copy(_ chunk: RowChunk, _ count: Int, capacity: Int) -> RowChunk {
    let copy = RowChunk(capacity: capacity)
    copy.base.copyMemory(from: chunk.base, byteCount: count)
    return copy
  }

  private var fixedPart: MutableRowView { MutableRowView(row: chunk.base, slotCount: slotCount) }

  // MARK: Writing

  func set(_ value: StoredValue, at slot: Int) {
    given.insert(slot)
    put(value, at: slot)
  }

  private func put(_ value: StoredValue, at slot: Int) {
    let column = columns[slot]
    if value.isNull {
      fixedPart.setNull(slot: slot)
      removeLooseValue(at: slot)
    } else if !(column.isFloat && needsConversion(value)),
      column.values.set(value, at: slot, in: fixedPart, setBytes: { setBytes($0, at: slot) })
    {
      removeLooseValue(at: slot)
    } else {
      if !isLoose[slot] { looseCount += 1 }
      (isLoose[slot], looseValues[slot]) = (true, value)
    }
  }

  @inline(__always)
  private func removeLooseValue(at slot: Int) {
    guard looseCount > 0, isLoose[slot] else { return }
    looseCount -= 1
    (isLoose[slot], looseValues[slot]) = (false, nil)
  }

  private func needsConversion(_ value: StoredValue) -> Bool {
    if case .double(let number) = value { Double(Float(number)) != number } else { false }
  }

  private func setBytes(_ bytes: UnsafeRawBufferPointer, at slot: Int) -> Bool {
    guard bytes.count <= DraftColumn.largestValue else { return false }
    if end + bytes.count > chunk.capacity {
      chunk = Self.copy(chunk, end, capacity: max(chunk.capacity * 2, end + bytes.count))
    }
    if let start = bytes.baseAddress { (chunk.base + end).copyMemory(from: start, byteCount: bytes.count) }
    fixedPart.setBytes(at: end, count: bytes.count, slot: slot)
    end += bytes.count
    return true
  }

  /// Starts the next row, with the defaults.
  func begin() {
    initial.bytes.withUnsafeBytes { bytes in
      if let start = bytes.baseAddress { chunk.base.copyMemory(from: start, byteCount: bytes.count) }
    }
    end = initial.bytes.count
    if looseCount > 0 || initial.looseCount > 0 {
      (looseValues, isLoose, looseCount) = (initial.looseValues, initial.isLoose, initial.looseCount)
    }
    given = GivenSlots()
  }

  // MARK: Reading

  /// Whether there are values outside of the row.
  var hasLooseValues: Bool { looseCount > 0 }

  /// The value of a property whose value is outside of the row; nil for any other.
  func looseValue(at slot: Int) -> StoredValue? { isLoose[slot] ? looseValues[slot] : nil }

  /// The row, valid until the next change.
  var row: RowView { RowView(row: chunk.base) }

  func isNull(at slot: Int) -> Bool {
    if isLoose[slot] { return looseValues[slot]?.isNull ?? true }
    return row.isNull(slot, of: slotCount)
  }

  /// The value of a property; nil for none.
  func value(at slot: Int) -> StoredValue? {
    if isLoose[slot] { return looseValues[slot] }
    if row.isNull(slot, of: slotCount) { return given.contains(slot) || columns[slot].isAttribute ? .null : nil }
    return RowSnapshot(chunk: chunk, offset: 0).value(slot, as: columns[slot].values.form, slotCount: slotCount)
  }
}

/// The property slots that were set in a row. For most entities, they take no allocation.
package struct GivenSlots: Hashable {
  /// One bit for each slot below 64.
  private var bits: UInt64 = 0
  private var others: Set<Int> = []

  @inline(__always)
  mutating func insert(_ slot: Int) {
    if slot < 64 { bits |= 1 &<< UInt64(truncatingIfNeeded: slot) } else { others.insert(slot) }
  }

  func contains(_ slot: Int) -> Bool {
    slot < 64 ? bits & (1 &<< UInt64(truncatingIfNeeded: slot)) != 0 : others.contains(slot)
  }

  /// The slots, in ascending order.
  package var sorted: [Int] {
    var slots: [Int] = []
    var rest = bits
    while rest != 0 {
      slots.append(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    return slots + others.sorted()
  }
}
