/// The properties of a new object that the program has set, as opposed to those with default values.
///
/// An upsert writes only these; see ``MergePolicy``. Eight bytes, so that recording one costs an instruction:
/// properties from slot 63 on share one bit.
struct AssignedSlots: Sendable {
  private var bits: UInt64 = 0
  private static let sharedBit = 63

  static let all = AssignedSlots(bits: .max)
  static let none = AssignedSlots(bits: 0)

  private init(bits: UInt64) { self.bits = bits }

  var isEmpty: Bool { bits == 0 }

  @inline(__always)
  mutating func insert(_ slot: Int) { bits |= 1 &<< UInt64(truncatingIfNeeded: min(slot, Self.sharedBit)) }

  /// Whether a property was set. For properties that share a bit: whether any of them was set and this one differs from
  /// its default.
  func contains(_ slot: Int, isDefault: @autoclosure () -> Bool) -> Bool {
    guard bits & (1 &<< UInt64(truncatingIfNeeded: min(slot, Self.sharedBit))) != 0 else { return false }
    return slot < Self.sharedBit || !isDefault()
  }
}

extension ManagedObject {
  /// Whether the program has set an attribute or a to-one relationship of this new object.
  final func wasGiven(_ slot: Int) -> Bool {
    given.contains(slot, isDefault: presentValue(at: slot) == layout.initialValues[slot] ?? .null)
  }
}
