/// The form of a history while its store serves two models: that of the first, extended by that of the second.
///
/// | part | form |
/// |---|---|
/// | changed columns | see ``RecordedColumns`` |
/// | values of deleted objects | the attributes of the first model, then those that only the second preserves |
/// | old values | under the names of the first model; those of its own under the names of the second |
///
/// Programs with either model read and write this form. A history before the expansion has it already, and at the end
/// it is reduced to that of the remaining model.
package struct HistoryExpansion: Sendable {
  /// One of the two models.
  package enum Side: Sendable { case first, second }

  package let first: TableMap
  package let second: TableMap
  /// The names of the second model by those of the first.
  package let renames: PropertyRenames
  /// The model of the program.
  package let side: Side
  /// The old values of the first model, by the names of the second.
  private let move: OldValuesMove
  /// The same for each entity, by the number that it has in both models.
  private let moves: [Int: OldValuesMove.EntityMove]
  /// The entities of the first model by the names of those of the second.
  private let origins: [String: String]

  package init(first: TableMap, second: TableMap, renames: PropertyRenames, side: Side) {
    (self.first, self.second, self.renames, self.side) = (first, second, renames, side)
    move = OldValuesMove(from: first, to: second, renames: renames)
    moves = Dictionary(move.entities.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    origins = Self.inverse(of: renames.entities)
  }

  private static func inverse(of names: [String: String]) -> [String: String] {
    Dictionary(names.map { ($0.value, $0.key) }, uniquingKeysWith: { min($0, $1) })
  }

  private var own: TableMap { side == .first ? first : second }
  private var other: TableMap { side == .first ? second : first }

  /// The same entity in the other model.
  private func partner(of entity: Entity) -> Entity? {
    let name = side == .first ? renames.entities[entity.name] : origins[entity.name]
    return name.flatMap { other.model.entitiesByName[$0] }
  }

  /// The names of an entity's properties in the other model, by their own names.
  private func otherNames(_ entity: Entity) -> [String: String] {
    if side == .first { return renames.properties[entity.name] ?? Dictionary() }
    return Self.inverse(of: origins[entity.name].flatMap { renames.properties[$0] } ?? Dictionary())
  }

  // MARK: Changed columns

  package func recordedColumns(of entity: Entity) -> RecordedColumns {
    let columns = ChangedColumns(of: entity, in: own)
    guard let partner = partner(of: entity) else { return RecordedColumns(columns) }
    let names = otherNames(entity)
    return RecordedColumns(
      columns,
      beside: RecordedColumns.Other(
        columns: ChangedColumns(of: partner, in: other), isFirst: side == .second,
        slots: entity.properties.reduce(into: Dictionary()) { slots, property in
          slots[property.slot] = names[property.name].flatMap { partner.property(named: $0) }?.slot
        }))
  }

  // MARK: Values of deleted objects

  /// The number of columns for values of deleted objects.
  package var tombstoneCount: Int { own.model.entities.map { preserved(of: $0).count }.max() ?? 0 }

  /// The attributes of an entity whose values are kept, in the order of the columns.
  package func preserved(of entity: Entity) -> [PreservedAttribute] {
    let own = PreservedAttribute.all(of: entity, in: own)
    guard let partner = partner(of: entity) else { return own }
    let others = PreservedAttribute.all(of: partner, in: other)
    let names = otherNames(entity)
    func isSame(_ one: PreservedAttribute, _ other: PreservedAttribute) -> Bool { names[one.name] == other.name }
    switch side {
    case .first: return own + others.filter { other in !own.contains { isSame($0, other) } }.map(\.ofOtherModel)
    case .second:
      return others.map { other in own.first { isSame($0, other) } ?? other.ofOtherModel }
        + own.filter { one in !others.contains { isSame(one, $0) } }
    }
  }

  // MARK: Old values

  /// The second model's columns of an entity by those under which old values are kept.
  package func columns(ofEntity number: Int) -> [String: String] {
    side == .second ? moves[number]?.columns ?? Dictionary() : Dictionary()
  }

  /// The columns under which old values of an entity are kept, by the second model's columns.
  package func keptColumns(ofEntity number: Int) -> [String: String] { Self.inverse(of: columns(ofEntity: number)) }

  /// The second model's names of relationships by those under which members are kept.
  package var relationships: [String: String] { side == .second ? move.relationships : Dictionary() }

  /// The names under which members are kept, by the second model's names of relationships.
  package var keptRelationships: [String: String] { Self.inverse(of: relationships) }

  /// The old values that only the second model has.
  package var additionalOldValues: OldValuesLayout {
    let known = OldValuesLayout(first).tables.reduce(into: [String: Set<String>]()) { known, table in
      known[table.name] = Set(table.groups.joined())
    }
    let pairs = pairs
    return OldValuesLayout(second).filtered { table, column in
      known[table]?.contains(column) != true && !pairs.contains { $0.table == table && $0.second == column }
    } relationships: { !move.relationships.values.contains($0) }
  }

  /// The columns of the first model that have another name in the second, whose old values are kept once.
  package var pairs: [(table: String, first: String, second: String)] {
    var seen: Set<[String]> = []
    return first.tables.flatMap { table in
      (moves[table.number]?.columns ?? Dictionary()).sorted(on: \.key).filter { $0.key != $0.value }
        .map { (table: table.table, first: $0.key, second: $0.value) }
    }.filter { seen.insert([$0.table, $0.first, $0.second]).inserted }
  }
}

// MARK: The end

extension HistoryExpansion {
  /// The adaptation of the values of deleted objects to the program's model alone.
  package var endOfColumns: HistoryColumnsMove {
    HistoryColumnsMove(
      entities: own.model.entities.map { entity in
        let (present, final) = (preserved(of: entity), PreservedAttribute.all(of: entity, in: own))
        let places = final.map { attribute in
          present.firstIndex(of: attribute).map { (index: $0, mark: MarkChange.same) }
        }
        return HistoryColumnsMove.EntityMove(
          number: own.numbers[entity], changedColumns: .none,
          tombstones: present == final
            ? nil : places + Array(repeating: nil, count: max(0, present.count - final.count)))
      })
  }

  /// The adaptation of old values to the second model alone.
  package var endOfOldValues: OldValuesMove { move.keeping(second) }
}

extension OldValuesLayout {
  /// A part of the layout.
  fileprivate func filtered(
    _ isIncluded: (_ table: String, _ column: String) -> Bool, relationships isRelated: (String) -> Bool
  ) -> OldValuesLayout {
    OldValuesLayout(
      tables: tables.map { table in
        Table(name: table.name, groups: table.groups.filter { $0.contains { isIncluded(table.name, $0) } })
      }.filter { !$0.groups.isEmpty }, relationships: relationships.filter { isRelated($0.name) })
  }
}
