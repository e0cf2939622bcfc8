import Foundation

/// The part of an attribute's column that decides which unsaved values a row may contain: those that a store takes from
/// there unchanged.
struct DraftColumn: Sendable {
  /// ``SlotForm/none`` for a property whose values are never in such a row.
  let form: SlotForm
  /// The integers that the column can hold.
  private let range: ClosedRange<Int64>
  /// The number of bytes above which a value stays outside of rows: it isn't copied, and doesn't remain in memory with
  /// other values.
  static let largestValue = 16 * 1024

  init(_ property: Property) {
    guard let attribute = property.attribute, !attribute.isTransient else {
      (form, range) = (.none, 0...0)
      return
    }
    let form = SlotForm(attribute)
    self.form = form.isDraftable ? form : .none
    range = attribute.type.integerRange
  }

  /// Sets a value in a row.
  ///
  /// Switches on the form first: matching value and form as a pair would copy the value.
  ///
  /// - Parameter setBytes: Sets the bytes of a text or of binary data in the row; returns false if they don't fit.
  /// - Returns: False if the row can't contain the value, and is unchanged.
  @inline(__always)
  func set(
    _ value: StoredValue, at slot: Int, in fixedPart: MutableRowView, setBytes: (UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    if case .null = value { return setNull(at: slot, in: fixedPart) }
    switch form {
    case .integer:
      guard case .integer(let number) = value, range.contains(number) else { return false }
      fixedPart.setInteger(number, slot: slot)
    case .boolean:
      guard case .boolean(let flag) = value else { return false }
      fixedPart.setInteger(flag ? 1 : 0, slot: slot)
    case .double:
      guard case .double(let number) = value, !number.isNaN else { return false }
      fixedPart.setDouble(number, slot: slot)
    case .date:
      guard case .date(let date) = value, !date.timeIntervalSinceReferenceDate.isNaN else { return false }
      fixedPart.setDouble(date.timeIntervalSinceReferenceDate, slot: slot)
    case .string:
      guard case .string(let text) = value else { return false }
      return Self.setText(text, setBytes)
    case .uri:
      guard case .uri(let text) = value else { return false }
      return Self.setText(text, setBytes)
    case .uuid:
      guard case .uuid(let uuid) = value else { return false }
      return withUnsafeBytes(of: uuid.uuid) { setBytes($0) }
    case .data:
      guard case .data(let data) = value else { return false }
      return data.withUnsafeBytes { setBytes($0) }
    case .none, .decimal, .externalData: return false
    }
    return true
  }

  /// - Returns: False if the row can't contain values of the property.
  @inline(__always)
  private func setNull(at slot: Int, in fixedPart: MutableRowView) -> Bool {
    if form != .none { fixedPart.setNull(slot: slot) }
    return form != .none
  }

  /// Sets the value that another row has in a column of the same form.
  ///
  /// - Parameters:
  ///   - slotCount: The number of slots of the other row.
  ///   - setBytes: As for `set`.
  /// - Returns: False if the row can't contain the value, and is unchanged.
  func copy(
    from source: RowView, slotCount: Int, at sourceSlot: Int, to slot: Int, in fixedPart: MutableRowView,
    setBytes: (UnsafeRawBufferPointer) -> Bool
  ) -> Bool {
    if source.isNull(sourceSlot, of: slotCount) { return setNull(at: slot, in: fixedPart) }
    switch form {
    case .integer:
      guard range.contains(source.integer(sourceSlot)) else { return false }
      fixedPart.setInteger(source.integer(sourceSlot), slot: slot)
    case .boolean: fixedPart.setInteger(source.integer(sourceSlot) != 0 ? 1 : 0, slot: slot)
    case .double, .date:
      guard !source.double(sourceSlot).isNaN else { return false }
      fixedPart.setDouble(source.double(sourceSlot), slot: slot)
    case .string, .uri, .uuid, .data: return setBytes(source.bytes(sourceSlot))
    case .none, .decimal, .externalData: return false
    }
    return true
  }

  @inline(__always)
  private static func setText(_ text: String, _ setBytes: (UnsafeRawBufferPointer) -> Bool) -> Bool {
    // Nearly every text is contiguous, and needn't be copied first.
    let isSet = text.utf8.withContiguousStorageIfAvailable { setBytes(UnsafeRawBufferPointer($0)) }
    if let isSet { return isSet }
    var text = text
    return text.withUTF8 { setBytes(UnsafeRawBufferPointer($0)) }
  }
}
