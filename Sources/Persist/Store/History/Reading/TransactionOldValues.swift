import Foundation

/// The old values of one transaction.
struct TransactionOldValues {
  private struct Row: Hashable {
    let entity: Int
    let key: Int64
  }

  private let storeIdentifier: String
  private let map: OldValuesMap
  private let tables: TableMap
  private var values: [Row: [String: SQLValue]] = Dictionary()
  private var members: [ManagedObjectID: [String: HistoryMemberChange]] = Dictionary()

  /// - Parameter row: The only row whose values are read; nil for all.
  init(
    _ map: OldValuesMap, of transaction: Int64, only row: SharedSQL.ChangedRow?, in store: some HistorySource,
    _ connection: some HistoryConnection
  ) throws {
    (self.map, tables, storeIdentifier) = (map, store.map, store.identifier)
    try connection.forEachRow(of: .oldValues(of: transaction, of: row)) { values in
      let row = Row(entity: Int(clamping: values.integer(0)), key: values.integer(1))
      self.values[row, default: Dictionary()][values.text(2)] = values.keptValue(3)
    }
    try connection.forEachRow(of: .memberChanges(of: transaction, of: row)) { addMember($0) }
  }

  private mutating func addMember(_ row: any StatementRow) {
    guard let relationship = map.members.value[row.text(0)] else { return }
    let owner = id(row.integer(1), number: row.isNull(3) ? nil : row.integer(3), declared: relationship.owner)
    let member = id(row.integer(2), number: row.isNull(4) ? nil : row.integer(4), declared: relationship.member)
    let isAdded = row.integer(5) > 0
    members[owner, default: Dictionary()][relationship.name, default: HistoryMemberChange()]
      .record(member, isAdded: isAdded)
    if let inverse = relationship.inverse {
      members[member, default: Dictionary()][inverse, default: HistoryMemberChange()].record(owner, isAdded: isAdded)
    }
  }

  private func id(_ key: Int64, number: Int64?, declared: Entity) -> ManagedObjectID {
    let index = number.flatMap { tables.numbers.entityIndex(ofNumber: Int(clamping: $0)) }
    let entity = index.map { tables.model.entities[$0] } ?? declared
    return ManagedObjectID(entityName: entity.name, storeIdentifier: storeIdentifier, key: .permanent(key))
  }

  /// The version of a deleted row.
  func version(ofEntity number: Int, key: Int64) -> Int64? {
    values[Row(entity: number, key: key)]?[OldValuesLayout.versionColumn]?.integerValue
  }

  /// The members that a row gained and lost.
  func memberChanges(of id: ManagedObjectID) -> [String: HistoryMemberChange] { members[id] ?? Dictionary() }

  /// The old values of a row, by property. Values that aren't of their attribute's type are omitted: they date from
  /// before a migration that changed the type.
  ///
  /// - Parameters:
  ///   - index: The index of the entity in the model.
  ///   - number: The entity's number in the store.
  ///   - key: The key of the row.
  func values(ofEntity index: Int, number: Int, key: Int64) -> [String: StoredValue] {
    guard let columns = values[Row(entity: number, key: key)] else { return Dictionary() }
    var result: [String: StoredValue] = Dictionary()
    for field in map.fields.value[index] {
      if let value = value(of: field, columns) { result[field.property.name] = value }
    }
    return result
  }

  private func value(of field: OldValuesMap.Field, _ columns: [String: SQLValue]) -> StoredValue? {
    var composite = StoredValue.null
    var key: Int64?
    var number: Int64?
    var isKept = false
    for (column, part) in field.parts {
      guard let raw = columns[column] else { continue }
      isKept = true
      switch part {
      case .attribute(let attribute):
        let value = raw.storedValue(of: attribute)
        return value.isNull && raw != .null ? nil : value
      case .element(let path, let attribute): composite.setElement(raw.storedValue(of: attribute), at: path[...])
      case .key: key = raw.integerValue
      case .entityNumber: number = raw.integerValue
      }
    }
    guard isKept else { return nil }
    guard let relationship = field.property.relationship else { return composite }
    guard let key else { return .null }
    return .objectID(id(key, number: number, declared: tables.model.destination(of: relationship)))
  }
}

extension StoredValue {
  /// Sets an element of a composite value; null leaves it out.
  fileprivate mutating func setElement(_ value: StoredValue, at path: ArraySlice<String>) {
    guard let name = path.first else { return self = value }
    guard !value.isNull else { return }
    var elements: [String: StoredValue] = if case .composite(let elements) = self { elements } else { Dictionary() }
    elements[name, default: .null].setElement(value, at: path.dropFirst())
    self = .composite(elements)
  }
}
