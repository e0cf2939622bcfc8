package import Foundation

extension RowSnapshot {
  /// The content of a slot as a value. Bytes that are invalid for the form read as null.
  package func value(_ slot: Int, as form: SlotForm, slotCount: Int) -> StoredValue {
    if isNull(slot, of: slotCount) { return .null }
    switch form {
    case .none: return .null
    case .integer: return .integer(integer(slot))
    case .boolean: return .boolean(integer(slot) != 0)
    case .double: return .double(double(slot))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: double(slot)))
    case .decimal:
      return Decimal(storedText: string(slot)).map(StoredValue.decimal) ?? .null
    case .string: return .string(string(slot))
    case .uri: return .uri(string(slot))
    case .uuid: return view.uuid(slot).map(StoredValue.uuid) ?? .null
    case .data: return .data(data(slot))
    case .externalData:
      if case .inline(let data) = externalContent(slot) { return .data(data) }
      return .null
    }
  }

  /// Whether a slot contains a value. Texts are compared in place, without decoding.
  func holds(_ value: StoredValue, in slot: Int, as form: SlotForm, slotCount: Int) -> Bool {
    if isNull(slot, of: slotCount) { return value.isNull }
    switch form {
    case .integer:
      guard case .integer(let number) = value else { return false }
      return integer(slot) == number
    case .string:
      guard case .string(let text) = value else { return false }
      return holds(text, in: slot)
    case .uri:
      guard case .uri(let text) = value else { return false }
      return holds(text, in: slot)
    default: return self.value(slot, as: form, slotCount: slotCount) == value
    }
  }

  private func holds(_ text: String, in slot: Int) -> Bool {
    let bytes = bytes(slot)
    guard text.utf8.count == bytes.count else { return false }
    return text.utf8.withContiguousStorageIfAvailable { text in
      guard let left = text.baseAddress, let right = bytes.baseAddress else { return true }
      return memcmp(left, right, bytes.count) == 0
    } ?? text.utf8.elementsEqual(bytes)
  }

  /// The content of a column whose values may be stored in files.
  package enum ExternalContent {
    case inline(Data)
    case file(String)
  }

  /// The content of a non-null slot of form ``SlotForm/externalData``.
  package func externalContent(_ slot: Int) -> ExternalContent {
    let bytes = bytes(slot)
    switch bytes.first {
    case 1: return .inline(Data(bytes.dropFirst()))
    case 2: return .file(String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self))
    default: return .inline(Data(bytes))
    }
  }
}

extension MutableRowView {
  /// Sets a slot to a value that needs no bytes after the slots.
  ///
  /// - Returns: Whether the value matches the form, which is one without bytes.
  @inline(__always)
  func set(_ value: StoredValue, slot: Int, as form: SlotForm) -> Bool {
    switch form {
    case .integer:
      guard case .integer(let number) = value else { return false }
      setInteger(number, slot: slot)
    case .boolean:
      guard case .boolean(let flag) = value else { return false }
      setInteger(flag ? 1 : 0, slot: slot)
    case .double:
      guard case .double(let number) = value else { return false }
      setDouble(number, slot: slot)
    case .date:
      guard case .date(let date) = value else { return false }
      setDouble(date.timeIntervalSinceReferenceDate, slot: slot)
    case .none, .decimal, .string, .uri, .uuid, .data, .externalData: return false
    }
    return true
  }
}

extension RowChunkWriter {
  /// Sets a slot of the current row to that of another row with as many slots; nothing if it is null there.
  mutating func copy(_ slot: Int, as form: SlotForm, from other: RowSnapshot, slotCount: Int) {
    guard !other.isNull(slot, of: slotCount) else { return }
    if form.hasBytes {
      let bytes = other.bytes(slot)
      setBytes(bytes.baseAddress, count: bytes.count, slot: slot)
    } else {
      setInteger(other.integer(slot), slot: slot)
    }
  }

  /// Sets a slot of the current row; a value that doesn't match the form leaves it null.
  ///
  /// Switches on the form first, because matching value and form as a pair would copy the value.
  ///
  /// - Returns: Whether the value matches the form.
  @discardableResult
  mutating func set(_ value: StoredValue, slot: Int, as form: SlotForm) -> Bool {
    switch form {
    case .none, .integer, .boolean, .double, .date: return fixedPart.set(value, slot: slot, as: form)
    case .decimal:
      guard case .decimal(let number) = value else { return false }
      setString(number.description, slot: slot)
    case .string:
      guard case .string(let text) = value else { return false }
      setString(text, slot: slot)
    case .uri:
      guard case .uri(let text) = value else { return false }
      setString(text, slot: slot)
    case .uuid:
      guard case .uuid(let uuid) = value else { return false }
      withUnsafeBytes(of: uuid.uuid) { setBytes($0.baseAddress, count: 16, slot: slot) }
    case .data:
      guard case .data(let data) = value else { return false }
      setData(data, slot: slot)
    case .externalData:
      guard case .data(let data) = value else { return false }
      setData(Data([1]) + data, slot: slot)
    }
    return true
  }

  private mutating func setData(_ data: Data, slot: Int) {
    data.withUnsafeBytes { setBytes($0.baseAddress, count: $0.count, slot: slot) }
  }
}
