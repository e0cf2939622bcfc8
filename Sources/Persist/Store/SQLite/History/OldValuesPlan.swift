import Foundation

/// A plan for keeping and reading the old values of a history.
final class OldValuesPlan: Sendable {
  /// The meaning of a column for the rows of one entity.
  enum Part: Sendable {
    case attribute(AttributeDescription)
    /// An element of a composite attribute, by its path of names.
    case element([String], AttributeDescription)
    case key
    case entityNumber
  }

  /// The parts of a property's value, by column.
  struct Field: Sendable {
    let property: Property
    let parts: [(column: String, part: Part)]
  }

  /// A relationship whose members are kept: the names at both ends.
  struct Members: Sendable {
    let owner: Entity
    let name: String
    let member: Entity
    /// Nil for a relationship without an inverse.
    let inverse: String?
  }

  /// The number of the last transaction before old values were kept.
  let after: Int64
  let layout: Lazy<OldValuesLayout>
  /// By index in ``ManagedObjectModel/entities``.
  let fields: Lazy<[[Field]]>
  /// By the relationship's name in ``OldValuesLayout/Relationship``, from either end.
  let members: Lazy<[String: Members]>
  /// The entity numbers and columns of values that may be stored in files.
  let fileColumns: Lazy<[Int: Set<String>]>
  let values = PreparedSQL(.oldValues)
  let memberChanges = PreparedSQL(.memberChanges)

  init(after: Int64, in map: TableMap) {
    self.after = after
    layout = Lazy { OldValuesLayout(map) }
    fields = Lazy { map.model.entities.map { entity in Self.fields(of: entity, in: map[entity]) } }
    members = Lazy {
      var members: [String: Members] = [:]
      for entity in map.model.entities {
        for property in entity.properties where property.declaringEntity == entity.name {
          guard let relationship = property.relationship, relationship.isToMany else { continue }
          members["\(entity.name).\(property.name)"] = Members(
            owner: entity, name: property.name, member: map.model.destination(of: relationship),
            inverse: relationship.inverse)
        }
      }
      return members
    }
    fileColumns = Lazy {
      var columns: [Int: Set<String>] = [:]
      for table in map.tables {
        for case (let name, .attribute(let attribute)) in table.columns.map({ ($0.name, $0.role) })
        where SlotForm(attribute) == .externalData {
          columns[table.number, default: []].insert(name)
        }
      }
      return columns
    }
  }

  private static func fields(of entity: Entity, in table: TableMap.EntityTable) -> [Field] {
    let columns = Dictionary(grouping: table.columns, by: \.property)
    return entity.properties.compactMap { property in
      guard let columns = columns[property.name], property.attribute?.isDerived != true else { return nil }
      return Field(
        property: property,
        parts: columns.map { column in
          switch column.role {
          case .toOne: return (column.name, .key)
          case .toOneEntity: return (column.name, .entityNumber)
          case .attribute(let attribute):
            let element = property.elements.first { $0.slot == column.slot }
            return (
              column.name, element.map { .element(Array($0.path.dropFirst()), attribute) } ?? .attribute(attribute)
            )
          }
        })
    }
  }
}

/// The old values of one transaction.
struct TransactionOldValues {
  private struct Row: Hashable {
    let entity: Int
    let key: Int64
  }

  private let store: SQLiteStore
  private let plan: OldValuesPlan
  private var values: [Row: [String: SQLValue]] = [:]
  private var members: [ManagedObjectID: [String: HistoryMemberChange]] = [:]

  init(_ plan: OldValuesPlan, of transaction: Int64, _ store: SQLiteStore, _ connection: SQLiteConnection) throws {
    (self.plan, self.store) = (plan, store)
    let values = try connection.statement(plan.values)
    defer { values.reset() }
    values.bind(transaction, at: 1)
    while try values.step() {
      let row = Row(entity: Int(clamping: values.integer(0)), key: values.integer(1))
      self.values[row, default: [:]][values.text(2)] = values.value(3)
    }
    let members = try connection.statement(plan.memberChanges)
    defer { members.reset() }
    members.bind(transaction, at: 1)
    while try members.step() { addMember(members) }
  }

  private mutating func addMember(_ row: SQLiteStatement) {
    guard let relationship = plan.members.value[row.text(0)] else { return }
    let owner = id(row.integer(1), row.isNull(3) ? nil : row.integer(3), relationship.owner)
    let member = id(row.integer(2), row.isNull(4) ? nil : row.integer(4), relationship.member)
    let isAdded = row.integer(5) > 0
    members[owner, default: [:]][relationship.name, default: HistoryMemberChange()].note(member, isAdded: isAdded)
    if let inverse = relationship.inverse {
      members[member, default: [:]][inverse, default: HistoryMemberChange()].note(owner, isAdded: isAdded)
    }
  }

  private func id(_ key: Int64, _ number: Int64?, _ declared: Entity) -> ManagedObjectID {
    let index = number.flatMap { store.map.numbers.entityIndex(ofNumber: Int(clamping: $0)) }
    let entity = index.map { store.model.entities[$0] } ?? declared
    return ManagedObjectID(entityName: entity.name, storeIdentifier: store.identifier, key: .permanent(key))
  }

  /// The version of a deleted row.
  func version(ofEntity number: Int, key: Int64) -> Int64? {
    values[Row(entity: number, key: key)]?[OldValuesLayout.versionColumn]?.integerValue
  }

  /// The members that a row gained and lost.
  func memberChanges(of id: ManagedObjectID) -> [String: HistoryMemberChange] { members[id] ?? [:] }

  /// The old values of a row, by property. Values that aren't of their attribute's type are omitted: they date from
  /// before a migration that changed the type.
  ///
  /// - Parameter index: The index of the entity in the model.
  func values(ofEntity index: Int, number: Int, key: Int64) -> [String: StoredValue] {
    guard let columns = values[Row(entity: number, key: key)] else { return [:] }
    var result: [String: StoredValue] = [:]
    for field in plan.fields.value[index] {
      if let value = value(of: field, columns) { result[field.property.name] = value }
    }
    return result
  }

  private func value(of field: OldValuesPlan.Field, _ columns: [String: SQLValue]) -> StoredValue? {
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
    return .objectID(id(key, number, store.model.destination(of: relationship)))
  }
}

extension StoredValue {
  /// Sets an element of a composite value; null leaves it out.
  fileprivate mutating func setElement(_ value: StoredValue, at path: ArraySlice<String>) {
    guard let name = path.first else { return self = value }
    guard !value.isNull else { return }
    var elements: [String: StoredValue] = if case .composite(let elements) = self { elements } else { [:] }
    elements[name, default: .null].setElement(value, at: path.dropFirst())
    self = .composite(elements)
  }
}
