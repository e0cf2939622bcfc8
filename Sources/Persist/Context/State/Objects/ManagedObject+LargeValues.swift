/// Compares large values with the files that rows name, which others may have replaced: a file that is gone contains no
/// value.
extension ManagedObject {
  /// A part of a property's value: an attribute's whole value, or an element of a composite one.
  private struct Part {
    let slot: Int
    let form: SlotForm
    let value: (StoredValue) -> StoredValue
  }

  private final func parts(of slot: Int) -> [Part] {
    guard layout.kinds[slot] == .composite else { return [Part(slot: slot, form: layout.forms[slot]) { $0 }] }
    return layout.properties[slot].elements.map { element in
      let path = Array(element.path.dropFirst())
      return Part(slot: element.slot, form: SlotForm(element.attribute)) { $0.element(at: path) }
    }
  }

  /// The file that contains a part of a row; nil if the row contains it itself.
  private final func file(of part: Part, in row: RowSnapshot) -> String? {
    guard part.form == .externalData, !row.isNull(part.slot, of: layout.rowSlotCount),
      case .file(let name) = row.externalContent(part.slot)
    else { return nil }
    return name
  }

  /// Whether a row names a file for a property's value or for an element of it.
  final func namesFile(at slot: Int, in row: RowSnapshot) -> Bool {
    layout.mayBeInFile[slot] && parts(of: slot).contains { file(of: $0, in: row) != nil }
  }

  /// Whether a value equals that of the row, which has at least a part of it in a file.
  ///
  /// Checked when a value is set, and when the row is adopted beneath it: later the file may be replaced, and the value
  /// would count as a change.
  final func isInFile(_ value: StoredValue, at slot: Int) -> Bool {
    guard let snapshot, namesFile(at: slot, in: snapshot) else { return false }
    return holds(value, at: slot, in: snapshot)
  }

  /// Whether a row has a value for a property that may be stored in files.
  final func holds(_ value: StoredValue, at slot: Int, in row: RowSnapshot) -> Bool {
    parts(of: slot).allSatisfy { part in
      let own = part.value(value)
      guard let name = file(of: part, in: row) else {
        return row.value(part.slot, as: part.form, slotCount: layout.rowSlotCount) == own
      }
      guard case .data(let data) = own, let store = table?.store else { return false }
      return (try? store.externalData(named: name, equals: data)) == true
    }
  }

  /// Whether two rows have the same value for a property that may be stored in files.
  ///
  /// After a save, the object's row contains a large value itself, while the store's row names the file to which it was
  /// written.
  final func holdsInFiles(_ slot: Int, in old: RowSnapshot, as row: RowSnapshot) -> Bool {
    parts(of: slot).allSatisfy { part in
      if let name = file(of: part, in: row), file(of: part, in: old) == nil {
        guard case .data(let data) = old.value(part.slot, as: part.form, slotCount: layout.rowSlotCount),
          let store = table?.store
        else { return false }
        return (try? store.externalData(named: name, equals: data)) == true
      }
      return old.holds(part.slot, part.form, as: row, of: layout)
    }
  }

  /// A row's value that may be stored in files, without elements whose file is gone; nil if the whole value's file is.
  final func valueInFiles(at slot: Int, in row: RowSnapshot) -> StoredValue? {
    guard layout.kinds[slot] == .composite else {
      guard let part = parts(of: slot).first, let name = file(of: part, in: row) else {
        return storedValue(at: slot, in: row)
      }
      return (try? table?.store?.externalData(named: name)).map { .data($0) }
    }
    var root: [String: StoredValue] = Dictionary()
    for (part, element) in zip(parts(of: slot), layout.properties[slot].elements) {
      var value = row.value(part.slot, as: part.form, slotCount: layout.rowSlotCount)
      if let name = file(of: part, in: row) {
        value = (try? table?.store?.externalData(named: name)).map { .data($0) } ?? .null
      }
      if !value.isNull { root.insert(value, at: element.path.dropFirst()) }
    }
    return root.isEmpty ? .null : .composite(root)
  }
}
