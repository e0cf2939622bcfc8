import Foundation

extension SQLiteStore {
  /// Updates rows with one statement, after reading their keys if they are being converted.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if a value can't be translated to SQL exactly;
  ///   ``PersistenceError/Code/validationNumberTooLarge`` or ``PersistenceError/Code/validationNumberTooSmall`` if a
  ///   computed number is out of the range of its attribute; ``PersistenceError/Code/validationMissingRequired`` if a
  ///   computed null replaces a value of a required attribute; ``PersistenceError/Code/constraintConflict``.
  func update(_ batch: BatchUpdate) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let selection = try selection(batch.rows, plan(for: batch.rows))
    let assignments = try assignments(of: batch)
    let fileColumns = writePlan(of: batch).fileColumns
    var files = LargeValueFiles(nil)
    let outcome = try pool.write { connection in
      files = LargeValueFiles(folderForNewValues)
      try requireValues(of: batch, assignments: assignments, in: selection, on: connection)
      if !fileColumns.isEmpty {
        try connection.query(.fileNames(selection, fileColumns)) { row in
          for column in fileColumns.indices { files.replace(columnContent: row.data(Int32(column))) }
        }
      }
      let history = try historyWriter(by: batch.origin, connection)
      let isConverting = try self.isConverting(selection.table, connection)
      let returnsKeys = batch.wantsIdentifiers || history != nil
      let sql = SQLText.update(selection, assignments, returningKeys: returnsKeys)
      var outcome = BatchOutcome()
      if returnsKeys || isConverting {
        let rows = try connection.all(isConverting ? .rows(.keyColumns(ofOnly: nil), selection) : sql) {
          (key: $0.integer(0), number: $0.integer(1))
        }
        if isConverting {
          let keys = SQLText.json(rows.map(\.key))
          try connection.execute(.update(selection.table, assignments, where: "Z_PK", isIn: keys))
        }
        let slots = batch.changes.map(\.slot)
        for row in rows {
          guard let index = map.numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: row.number)) else { continue }
          outcome.count += 1
          try history?.recordUpdate(of: row.key, index, changing: slots)
          guard batch.wantsIdentifiers, let id = identifier(key: row.key, number: row.number) else { continue }
          outcome.changes.updatedObjectIDs.insert(id)
        }
        _ = try history?.finish()
      } else {
        outcome.count = try connection.execute(sql)
      }
      return outcome
    }
    discardReplaced(files)
    return outcome
  }

  /// Checks the computed values that a column of a file would accept although their attribute doesn't: numbers of any
  /// size, and null instead of a value. As on a server, numbers come first, whatever the order of the rows.
  private func requireValues(
    of batch: BatchUpdate, assignments: [(column: String, value: SQLText.Assigned)],
    in selection: SQLText.RowSelection, on connection: SQLiteConnection
  ) throws {
    let entity = batch.rows.entity
    let computed = assignments.compactMap { assignment in
      assignment.value.term.flatMap { term in
        map[entity].columns.first { $0.name == assignment.column }.map { (column: $0, term: term) }
      }
    }
    for (column, term) in computed {
      guard case .attribute(let attribute) = column.role, let number = Self.checked(term, for: attribute.type)
      else { continue }
      let sql = SQLText.outside(attribute.type.integerRange, number, of: selection)
      guard let row = try connection.first(sql, { (key: $0.integer(0), number: $0.value(1)) }) else { continue }
      let place = PersistenceError.Place(entity: entity.name, property: column.property, row: row.key, store: url)
      if case .double(let number) = row.number { throw attribute.type.outOfRange(number, column.property, at: place) }
      throw attribute.type.outOfRange(row.number.integerValue ?? 0, column.property, at: place)
    }
    for (column, term) in computed {
      guard case .attribute(let attribute) = column.role, !attribute.isOptional,
        let key = try connection.first(.removed(column.name, by: term, of: selection), { $0.integer(0) })
      else { continue }
      throw PersistenceError.missingRequired(column.property, of: entity, row: key, store: url)
    }
  }

  /// The number to compare with the range of a type; nil if it can't be out of the range.
  ///
  /// SQLite's cast to an integer clamps to 64 bits, so that a number is compared with this range before the cast. At
  /// these limits, no floating-point number has a fraction that the cast would drop.
  ///
  /// - SeeAlso: <https://sqlite.org/lang_expr.html#castexpr>
  private static func checked(_ term: SQLTerm, for type: AttributeType) -> SQLTerm? {
    switch (type, term) {
    case (.int16, _), (.int32, _): term
    case (.int64, .whole(let number)): number
    default: nil
    }
  }

  func identifier(key: Int64, number: Int64) -> ManagedObjectID? {
    map.table(ofNumber: Int(truncatingIfNeeded: number)).map {
      ManagedObjectID(entityName: $0.entity.name, storeIdentifier: identifier, key: .permanent(key))
    }
  }

  private func writePlan(of batch: BatchUpdate) -> WritePlan.Update {
    plans.writes[batch.rows.entity.index].update(of: batch.changes.map(\.slot))
  }

  /// The new values of the columns.
  private func assignments(of batch: BatchUpdate) throws -> [(column: String, value: SQLText.Assigned)] {
    let (update, entity) = (writePlan(of: batch), batch.rows.entity)
    var translation = newTranslation(at: batch.rows.now)
    let expressions = Dictionary(batch.changes.map { ($0.slot, $0.value) }, uniquingKeysWith: { $1 })
    return try update.columns.compactMap { column in
      guard let expression = expressions[column.slot] else { return nil }
      if let value = expression.constantValue {
        guard let value = sqlValue(value, in: column) else {
          throw PersistenceError.notComputable(expression, for: column, of: entity)
        }
        return (column.name, .value(value))
      }
      guard case .attribute(let form) = column.source,
        let term = translation.assigned(
          expression, to: form, over: entity, root: SQLText.RowSelection.root)
      else { throw PersistenceError.notComputable(expression, for: column, of: entity) }
      return (column.name, form == .boolean ? .truth(term) : .term(term))
    }
  }

  /// A constant in a column's representation; nil if the column doesn't accept the value.
  private func sqlValue(_ value: StoredValue, in column: WritePlan.Column) -> SQLValue? {
    switch column.source {
    case .place: return .null
    case .key:
      if value.isNull { return .null }
      guard case .objectID(let given) = value, case let id = given.current, id.storeIdentifier == identifier else {
        return nil
      }
      return id.primaryKey.map(SQLValue.integer)
    case .entityNumber:
      guard case .objectID(let id) = value else { return .null }
      return model.entitiesByName[id.entityName].map { .integer(Int64(map.numbers[$0])) }
    case .attribute(let form): return SQLValue(value, as: form)
    case .element(let path, let form):
      var element = value
      for name in path {
        guard case .composite(let elements) = element else { break }
        element = elements[name] ?? .null
      }
      return SQLValue(element, as: form)
    }
  }
}

extension SQLValue {
  /// A value in the representation of a column's form. Large values are stored in the rows: one file can't belong to
  /// many.
  fileprivate init?(_ value: StoredValue, as form: SlotForm) {
    switch (value, form) {
    case (.null, _): self = .null
    case (.integer(let value), .integer): self = .integer(value)
    case (.boolean(let value), .boolean): self = .integer(value ? 1 : 0)
    case (.integer(let value), .boolean): self = .integer(value == 0 ? 0 : 1)
    case (.boolean(let value), .integer): self = .integer(value ? 1 : 0)
    case (.double(let value), .double) where !value.isNaN: self = .double(value)
    case (.integer(let value), .double): self = .double(Double(value))
    case (.date(let value), .date) where !value.timeIntervalSinceReferenceDate.isNaN:
      self = .double(value.timeIntervalSinceReferenceDate)
    case (.string(let value), .string), (.uri(let value), .uri), (.string(let value), .uri): self = .text(value)
    case (.uuid(let value), .uuid): self = .blob(value.data)
    case (.data(let value), .data): self = .blob(value)
    case (.data(let value), .externalData): self = .blob(Data([1]) + value)
    case (.integer(let value), .decimal): self = .integer(value)
    case (.decimal(let value), .decimal):
      guard let column = DecimalColumn(value) else { return nil }
      self.init(column)
    default: return nil
    }
  }
}
