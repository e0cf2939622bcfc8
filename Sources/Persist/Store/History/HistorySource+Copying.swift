import Foundation

/// Copying the history of one store into another of the same model, of any engine.
///
/// Transactions and changes keep their numbers. The numbers of entities and the names of columns are those of the new
/// store.
extension HistorySource {
  /// Copies the history with its readers and the attached entries, in one transaction.
  ///
  /// - Parameters:
  ///   - source: The store that the rows come from, which has the same model.
  ///   - settings: The settings of the source's history.
  /// - Returns: The settings of the copy; nil if the source has no history.
  func copyHistory(of source: some HistorySource, _ settings: HistorySettings) throws -> HistorySettings? {
    try source.readingHistory { original in
      guard let layout = HistoryLayout(try original.storeSchema()) else { return nil }
      return try writingHistory { copy in
        let copying = try HistoryCopying(
          original: original, copy: copy, layout: layout, source.presentHistory(in: original), from: source.map,
          to: map)
        return try copying.run(settings)
      }
    }
  }
}

private struct HistoryCopying<Original: HistoryConnection, Copy: HistoryConnection>: ~Copyable {
  let original: Original
  let copy: Copy
  let layout: HistoryLayout
  /// The history of a store that serves two models, which the copy doesn't; nil for others.
  private let expanded: HistoryMap?
  /// The entity numbers of the copy, by those of the original.
  private let numbers: [Int64: Int64]
  /// The entity numbers of the original whose bits of changed columns have another meaning in the copy.
  private let reordered: Set<Int64>
  /// The layout of the copy.
  private let map: TableMap
  private let move: OldValuesMove

  init(
    original: Original, copy: Copy, layout: HistoryLayout, _ history: HistoryMap?, from: TableMap, to map: TableMap
  ) {
    (self.original, self.copy, self.layout) = (original, copy, layout)
    expanded = history.flatMap { $0.expansion == nil ? nil : $0 }
    var numbers: [Int64: Int64] = Dictionary()
    var reordered: Set<Int64> = []
    let (former, description) = (HistoryDescription(from), HistoryDescription(map))
    for entity in from.model.entities {
      guard let own = map.model.entitiesByName[entity.name] else { continue }
      numbers[Int64(from.numbers[entity])] = Int64(map.numbers[own])
      if former.columns[entity.name]?.hasSameBytes(as: description.columns[entity.name]) != true {
        reordered.insert(Int64(from.numbers[entity]))
      }
    }
    (self.numbers, self.reordered, self.map) = (numbers, reordered, map)
    move = OldValuesMove(from: from, to: map, renames: .unchanged(in: from.model))
  }

  func run(_ settings: HistorySettings) throws -> HistorySettings {
    var settings = settings
    if expanded != nil { settings.description = HistoryDescription(map) }
    for table in HistoryLayout.tables(tombstones: layout.tombstones.count) { try copy.create(table) }
    for index in HistoryLayout.indexes { try copy.create(index) }
    try copyTransactions()
    try copyChanges()
    try copyReaders()
    try copyAttachedEntries()
    let last = try original.lastHistoryNumbers()
    for (entity, number) in [
      (HistoryLayout.EntityNumber.change, last.change), (HistoryLayout.EntityNumber.transaction, last.transaction),
    ] {
      try copy.setLastNumber(number, ofEntity: entity)
    }
    if !layout.hasOldValues {
      // The tables may have been dropped by another program.
      settings.oldValuesAfter = nil
    } else if settings.oldValuesAfter != nil {
      try copy.execute(all: SharedSQL.oldValueTables)
      try copyOldValues()
      try copyMembers()
      try copy.keepOldValues(of: map)
    }
    return settings
  }

  // MARK: Tables

  /// The form in which a column is read.
  private enum Form { case integer, double, text, data, kept }

  private static func value(in row: any StatementRow, column: Int32, as form: Form) -> SQLValue {
    guard !row.isNull(column) else { return .null }
    return switch form {
    case .integer: .integer(row.integer(column))
    case .double: .double(row.double(column))
    case .text: .text(row.text(column))
    case .data: .blob(row.data(column))
    case .kept: row.keptValue(column)
    }
  }

  /// Copies selected rows, a few hundred at a time.
  ///
  /// - Parameter change: Changes the values of a row; returns false to leave it out.
  private func copyRows(
    of sql: SharedSQL, forms: [Form], to table: String, columns: [String],
    _ change: (inout [SQLValue]) throws -> Bool = { _ in true }
  ) throws {
    var rows: [[SQLValue]] = []
    var size = 0
    func write() throws {
      if !rows.isEmpty { try copy.execute(.insert(rows, into: table, columns)) }
      (rows, size) = ([], 0)
    }
    try original.forEachRow(of: sql) { row in
      var values = forms.indices.map { Self.value(in: row, column: Int32($0), as: forms[$0]) }
      guard try change(&values) else { return }
      rows.append(values)
      for case .blob(let data) in values { size += data.count }
      if rows.count == 200 || size > 1 << 22 { try write() }
    }
    try write()
  }

  private func copyTransactions() throws {
    let texts = HistoryLayout.Text.allCases
    var keys: [String: Int64] = Dictionary()
    try copyRows(
      of: .transactionsToCopy(in: layout), forms: [.integer, .integer, .double] + texts.map { _ in .text },
      to: HistoryLayout.transactionTable, columns: ["Z_PK", "Z_OPT", "ZTIMESTAMP"] + texts.map(\.reference) + ["Z_ENT"]
    ) { values in
      for index in 3..<values.count {
        guard case .text(let text) = values[index] else { continue }
        if keys[text] == nil {
          keys[text] = Int64(keys.count + 1)
          try copy.execute(.addHistoryText(text, key: Int64(keys.count)))
        }
        values[index] = keys[text].map(SQLValue.integer) ?? .null
      }
      values.append(.integer(Int64(HistoryLayout.EntityNumber.transaction)))
      return true
    }
    let text = HistoryLayout.EntityNumber.text
    try copy.setLastNumber(Int64(keys.count), ofEntity: text)
  }

  private func copyChanges() throws {
    let columns = ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"] + layout.tombstones
    let entities = Dictionary(
      expanded?.entities.value.map { (Int64($0.number), $0) } ?? [], uniquingKeysWith: { first, _ in first })
    try copyRows(
      of: .changesToCopy(in: layout),
      forms: [.integer, .integer, .integer, .integer, .integer, .data] + layout.tombstones.map { _ in .kept },
      to: HistoryLayout.changeTable, columns: columns + ["Z_ENT"]
    ) { values in
      // Changes of entities that nothing names can't be shown.
      guard case .integer(let number) = values[2], let own = numbers[number] else { return false }
      values[2] = .integer(own)
      if let entity = entities[number] { entity.reduce(&values) }
      if reordered.contains(number) { values[5] = .null }
      for index in 6..<values.count { values[index] = copy.kept(values[index]) }
      values.append(.integer(Int64(HistoryLayout.EntityNumber.change)))
      return true
    }
  }

  private func copyReaders() throws {
    guard try original.hasTable(named: SharedSQL.historyReaderTable) else { return }
    try copy.execute(.createHistoryReaders)
    try copyRows(
      of: .historyReaders, forms: [.text, .integer, .double], to: SharedSQL.historyReaderTable,
      columns: ["NAME", "TRANSACTIONID", "HEARD"])
    guard try original.hasTable(named: SharedSQL.historyMarkTable) else { return }
    try copy.execute(.createHistoryMarks)
    try copyRows(
      of: .historyMarks, forms: [.text, .integer, .text], to: SharedSQL.historyMarkTable,
      columns: ["NAME", "TRANSACTIONID", "MARK"])
  }

  private func copyAttachedEntries() throws {
    guard try original.hasTable(named: SharedSQL.attachedTable) else { return }
    try copy.execute(.createAttachedTable)
    var range = AttachedRange(first: Data(), end: Data([255]))
    let limit = 200
    while true {
      let entries = try original.all(of: .attachedEntries(in: range, limit: limit)) { row in
        AttachedEntry(key: row.data(0), value: row.data(1))
      }
      try copy.setAttached(AttachedList(entries))
      guard entries.count == limit, let last = entries.last else { return }
      range.first = last.key + [0]
    }
  }

  // MARK: Old values

  /// Copies the rows of a table of old values, whose key is the first four columns, without holding all at once.
  ///
  /// - Parameter change: Changes the values of a row; returns false to leave it out.
  private func copyPages(
    _ page: (_ last: [SQLValue], _ limit: Int) -> SharedSQL, as forms: [Form], to table: String, columns: [String],
    change: (inout [SQLValue]) -> Bool
  ) throws {
    let limit = 200
    var last: [SQLValue] = []
    var count = limit
    while count == limit {
      count = 0
      try copyRows(of: page(last, limit), forms: forms, to: table, columns: columns) { values in
        count += 1
        last = Array(values.prefix(4))
        return change(&values)
      }
    }
  }

  private func copyOldValues() throws {
    let entities = Dictionary(move.entities.map { (Int64($0.number), $0) }, uniquingKeysWith: { first, _ in first })
    let names = entities.keys.reduce(into: [Int64: [String: String]]()) { names, number in
      names[number] = expanded?.expansion?.columns(ofEntity: Int(number))
    }
    try copyPages(
      SharedSQL.oldValuesToCopy, as: [.integer, .integer, .integer, .text, .kept], to: OldValuesLayout.valueTable,
      columns: ["TRANSACTIONID", "ENTITY", "ROWKEY", "COLUMNNAME", "VALUE"]
    ) { values in
      guard case .integer(let number) = values[1], case .text(let former) = values[3], let entity = entities[number],
        let own = entity.newNumber, let column = entity.columns[names[number]?[former] ?? former]
      else { return false }
      (values[1], values[3]) = (.integer(Int64(own)), .text(column))
      if entity.numberColumns.contains(column) { values[4] = renumbered(values[4]) }
      values[4] = copy.kept(values[4])
      return true
    }
  }

  private func copyMembers() throws {
    let known = Set(OldValuesLayout(map).relationships.map(\.name))
    let members = OldValuesMap(after: 0, in: map).members.value
    let names = expanded?.expansion?.relationships ?? Dictionary()
    try copyPages(
      SharedSQL.membersToCopy, as: [.integer, .text, .integer, .integer, .integer, .integer, .integer],
      to: OldValuesLayout.memberTable,
      columns: ["TRANSACTIONID", "RELATIONSHIP", "OWNER", "MEMBER", "OWNERENTITY", "MEMBERENTITY", "CHANGE"]
    ) { values in
      guard case .text(let kept) = values[1] else { return false }
      let name = names[kept] ?? kept
      values[1] = .text(name)
      (values[4], values[5]) = (renumbered(values[4]), renumbered(values[5]))
      guard !known.contains(name) else { return true }
      // The copy may keep the members of the other end.
      guard let relationship = members[name], let inverse = relationship.inverse,
        let property = relationship.member.property(named: inverse)
      else { return false }
      values[1] = .text("\(property.declaringEntity).\(inverse)")
      values.swapAt(2, 3)
      values.swapAt(4, 5)
      return true
    }
  }

  /// The number of an entity in the copy.
  private func renumbered(_ value: SQLValue) -> SQLValue {
    guard case .integer(let number) = value, let own = numbers[number] else { return .null }
    return .integer(own)
  }
}

extension HistoryMap.EntityColumns {
  /// Reduces an entry of a store that serves two models to the model of the program.
  fileprivate func reduce(_ values: inout [SQLValue]) {
    if case .blob(let bits) = values[5] { values[5] = changedColumns.ownBytes(bits).map(SQLValue.blob) ?? .null }
    let kept = Array(values[6...])
    let own = preserved.indices.filter { !preserved[$0].isOfOtherModel }
      .sorted(on: { preserved[$0].slot }).map { kept[$0] }
    values.replaceSubrange(6..., with: own + Array(repeating: .null, count: kept.count - own.count))
  }
}
