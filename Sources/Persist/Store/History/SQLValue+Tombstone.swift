import Foundation

extension SQLValue {
  /// Returns the kept value of a deleted object's attribute, or a parked one; null if it isn't a value of the
  /// attribute's type.
  ///
  /// The columns are declared as bytes, so that a value has the type with which it was written. All that is known of
  /// values written by other frameworks is that they have the form of the attribute's own column.
  package func storedValue(of attribute: AttributeDescription) -> StoredValue {
    switch (SlotForm(attribute), self) {
    case (_, .null), (.none, _): .null
    case (.integer, .integer(let number)): .integer(number)
    case (.boolean, .integer(let number)): .boolean(number != 0)
    case (.double, _): doubleValue.map(StoredValue.double) ?? archivedValue
    case (.date, _):
      doubleValue.map { .date(Date(timeIntervalSinceReferenceDate: $0)) } ?? archivedValue
    case (.decimal, _): decimalValue.map(StoredValue.decimal) ?? archivedValue
    case (.string, .text(let text)): .string(text)
    case (.uri, .text(let text)): .uri(text)
    case (.uuid, .blob(let data)) where data.count == 16:
      data.withUnsafeBytes { .uuid(UUID(uuid: $0.loadUnaligned(as: uuid_t.self))) }
    case (.uuid, .text(let text)): UUID(uuidString: text).map(StoredValue.uuid) ?? .null
    case (.data, .blob(let data)): .data(data)
    // The column's bytes: a mark followed by the value, because the file of a deleted value no longer exists.
    case (.externalData, .blob(let data)): data.first == 1 ? .data(Data(data.dropFirst())) : .null
    default: archivedValue
    }
  }

  /// The value in a keyed archive; null if there is none.
  private var archivedValue: StoredValue {
    guard case .blob(let data) = self, data.starts(with: Array("bplist00".utf8)),
      let root = try? KeyedArchive(data: data, place: .unknown).root()
    else { return .null }
    return (try? root.storedValue) ?? .null
  }
}
