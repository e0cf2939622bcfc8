import Foundation

/// Binding values to columns.
extension CommitPass {
  /// Binds the values of a row to columns, without copying those of plain attributes.
  ///
  /// - Parameters:
  ///   - values: The values of the row.
  ///   - first: The index of the first column's parameter.
  ///   - bindsNulls: Whether to bind null to the parameters without a value, which otherwise remain as they are.
  mutating func bind(
    _ values: SlotValues, to columns: [WritePlan.Column], _ bindings: [WritePlan.Binding],
    of statement: SQLiteStatement, from first: Int32, plan: WritePlan, row: Int64, bindsNulls: Bool
  ) throws {
    for (position, binding) in bindings.enumerated() {
      let index = first + Int32(truncatingIfNeeded: position)
      let isBound = try values.withValue(at: binding.slot) { value in
        if let form = binding.form, try bind(value, as: form, to: statement, at: index) { return }
        try bind(value, columns[position], to: statement, at: index, plan: plan, row: row)
      }
      if !isBound, bindsNulls { statement.bindNull(at: index) }
    }
  }

  /// Binds the values of a row to the columns of plain attributes, without copying them: the row must exist until the
  /// statement forgets them.
  ///
  /// - Parameter bindsNulls: Whether to bind null to the other parameters, which otherwise remain as they are.
  func bind(
    _ row: RowView, slotCount: Int, _ bindings: [WritePlan.Binding], of statement: SQLiteStatement, from first: Int32,
    bindsNulls: Bool = false
  ) {
    for place in bindings.indices {
      let (binding, index) = (bindings[place], first &+ Int32(truncatingIfNeeded: place))
      guard let form = binding.form, !row.isNull(binding.slot, of: slotCount) else {
        if bindsNulls { statement.bindNull(at: index) }
        continue
      }
      switch form {
      case .integer, .boolean: statement.bind(row.integer(binding.slot), at: index)
      case .double, .date: statement.bind(row.double(binding.slot), at: index)
      case .string, .uri: statement.bindBorrowedText(row.bytes(binding.slot), at: index)
      case .uuid, .data: statement.bindBorrowedBlob(row.bytes(binding.slot), at: index)
      // Such values are never in the row of an unsaved object.
      case .none, .decimal, .externalData: break
      }
    }
  }

  mutating func bind(
    _ value: StoredValue, _ column: WritePlan.Column, to statement: SQLiteStatement, at index: Int32,
    plan: WritePlan, row: Int64
  ) throws {
    switch column.source {
    case .attribute(let form):
      guard try bind(value, as: form, to: statement, at: index) else {
        throw mismatch(value, in: column, of: plan, row: row)
      }
    case .element(let path, let form):
      var element = value
      for name in path {
        guard case .composite(let elements) = element else { break }
        element = elements[name] ?? .null
      }
      guard try bind(element, as: form, to: statement, at: index) else {
        throw mismatch(value, in: column, of: plan, row: row)
      }
    case .key:
      switch value {
      case .null: statement.bindNull(at: index)
      case .objectID(let id): statement.bind(try key(of: id), at: index)
      default: throw mismatch(value, in: column, of: plan, row: row)
      }
    case .entityNumber:
      guard case .objectID(let id) = value else { return statement.bindNull(at: index) }
      guard let entity = store.model.entitiesByName[id.entityName] else {
        throw PersistenceError.unknownDestination(id.entityName)
      }
      statement.bind(Int64(store.map.numbers[entity]), at: index)
    case .place: statement.bindNull(at: index)
    }
  }

  /// Binds the value of an attribute.
  ///
  /// - Returns: False if the value doesn't match the form.
  mutating func bind(
    _ value: StoredValue, as form: SlotForm, to statement: SQLiteStatement, at index: Int32
  ) throws -> Bool {
    if value.isNull {
      statement.bindNull(at: index)
      return true
    }
    // Switches on the form first: matching value and form as a pair would copy the value.
    switch form {
    case .none: return false
    case .integer:
      guard case .integer(let number) = value else { return false }
      statement.bind(number, at: index)
    case .boolean:
      guard case .boolean(let flag) = value else { return false }
      statement.bind(flag ? 1 as Int64 : 0, at: index)
    case .double:
      // SQLite would convert NaN to null.
      guard case .double(let number) = value, !number.isNaN else { return false }
      statement.bind(number, at: index)
    case .date:
      guard case .date(let date) = value, !date.timeIntervalSinceReferenceDate.isNaN else { return false }
      statement.bind(date.timeIntervalSinceReferenceDate, at: index)
    case .string:
      guard case .string(let text) = value else { return false }
      statement.bind(text, at: index)
    case .uri:
      guard case .uri(let text) = value else { return false }
      statement.bind(text, at: index)
    case .uuid:
      guard case .uuid(let uuid) = value else { return false }
      withUnsafeBytes(of: uuid.uuid) { statement.bindBlob($0, at: index) }
    case .data:
      guard case .data(let data) = value else { return false }
      statement.bind(data, at: index)
    case .externalData:
      guard case .data(let data) = value else { return false }
      statement.bind(try files.columnContent(of: data), at: index)
    case .decimal:
      guard case .decimal(let number) = value else { return false }
      return bind(number, to: statement, at: index)
    }
    return true
  }

  private func bind(_ value: Decimal, to statement: SQLiteStatement, at index: Int32) -> Bool {
    switch DecimalColumn(value) {
    case .integer(let number)?: statement.bind(number, at: index)
    case .double(let number)?: statement.bind(number, at: index)
    case .text(let text)?: statement.bind(Data(text.utf8), at: index)
    case nil: return false
    }
    return true
  }

  private func mismatch(
    _ value: StoredValue, in column: WritePlan.Column, of plan: WritePlan, row: Int64
  ) -> PersistenceError {
    .mismatch(value, in: column, of: plan.entity, row: row, at: store.url)
  }
}
