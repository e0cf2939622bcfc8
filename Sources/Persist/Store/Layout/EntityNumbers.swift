/// Which `Z_ENT` each entity of a model has in a store.
///
/// A store's own table `Z_PRIMARYKEY` says so by name. Core Data leaves an old name there when it renames an entity in
/// place, so a name that isn't found is looked for under the entity's renaming identifier, and then under the number
/// that the entity has by rule, where that number's row names no entity of the model.
struct EntityNumbers: Sendable, Hashable {
  /// A row of `Z_PRIMARYKEY`.
  struct Row: Sendable, Hashable {
    let number: Int
    let name: String
    /// The number of the parent, 0 for none.
    let parent: Int
    /// The greatest key given out so far; nil where the store has no value.
    let maximum: Int64?
  }

  /// Numbers from here on belong to Core Data's own bookkeeping, such as the history's.
  static let firstSystemNumber = 16_001

  /// By index in ``ManagedObjectModel/entities``.
  let byIndex: [Int]
  /// Rows of the model's entities by entity number: those that stand in `Z_PRIMARYKEY`.
  let rows: [Int: Row]
  /// What doesn't fit, in words.
  let differences: [String]
  private let indexByNumber: [Int: Int]

  /// The numbers that a new store of the model has.
  static func forNewStore(_ model: ManagedObjectModel) -> EntityNumbers {
    EntityNumbers(byIndex: model.entities.map(\.number), rows: [:], differences: [])
  }

  /// - Parameter absent: entities that the store was made without.
  init(model: ManagedObjectModel, rows: [Row], absent: Set<String> = []) {
    let rows = rows.filter { $0.number < Self.firstSystemNumber && $0.number > 0 }
    let byName = Dictionary(rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let byNumber = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
    var numbers = [Int?](repeating: nil, count: model.entities.count)
    var free = Set(byNumber.keys)
    var differences: [String] = []

    for (index, entity) in model.entities.enumerated() {
      guard let row = byName[entity.name] else { continue }
      numbers[index] = row.number
      free.remove(row.number)
    }
    for (index, entity) in model.entities.enumerated() where numbers[index] == nil {
      if let old = entity.description.renamingIdentifier, let row = byName[old], free.remove(row.number) != nil {
        numbers[index] = row.number
      }
    }
    for (index, entity) in model.entities.enumerated() where numbers[index] == nil {
      if let row = byNumber[entity.number], free.contains(row.number), rows.count == model.entities.count {
        numbers[index] = row.number
        free.remove(row.number)
        differences.append("'\(row.name)' stands in Z_PRIMARYKEY where the model has entity '\(entity.name)'.")
      }
    }
    var used = Set(numbers.compactMap { $0 })
    var next = 1
    for (index, entity) in model.entities.enumerated() where numbers[index] == nil {
      var number = entity.number
      while used.contains(number) || byNumber[number] != nil {
        number = next
        next += 1
      }
      numbers[index] = number
      used.insert(number)
      guard !absent.contains(entity.name) else { continue }
      differences.append("Z_PRIMARYKEY doesn't name entity '\(entity.name)'.")
    }
    for number in free.sorted() {
      if let name = byNumber[number]?.name {
        differences.append("Z_PRIMARYKEY names entity '\(name)', which the model doesn't have.")
      }
    }
    self.init(byIndex: numbers.compactMap { $0 }, rows: byNumber, differences: differences)
  }

  private init(byIndex: [Int], rows: [Int: Row], differences: [String]) {
    self.byIndex = byIndex
    self.rows = rows
    self.differences = differences
    indexByNumber = Dictionary(
      byIndex.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The index in ``ManagedObjectModel/entities`` of the entity with a number, nil for a number that the model lacks.
  func entityIndex(ofNumber number: Int) -> Int? { indexByNumber[number] }

  subscript(_ entity: Entity) -> Int { byIndex[entity.number - 1] }
}
