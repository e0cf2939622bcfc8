/// The `Z_ENT` of each entity of a model in a store.
///
/// A store's table `Z_PRIMARYKEY` lists them by name. Core Data leaves the old name there when it renames an entity in
/// place, so an unknown name is looked up by the entity's renaming identifier, and then by the number that the entity
/// has by rule if that number's row names no entity of the model.
struct EntityNumbers: Sendable, Hashable {
  /// A row of `Z_PRIMARYKEY`.
  struct Row: Sendable, Hashable {
    let number: Int
    let name: String
    /// The number of the parent; 0 for none.
    let parent: Int
    /// The greatest key assigned so far; nil if the store has no value.
    let maximum: Int64?
  }

  /// The first of the numbers used by Core Data's own bookkeeping, such as the history.
  static let firstSystemNumber = 16_001

  /// By index in ``ManagedObjectModel/entities``.
  let byIndex: [Int]
  /// The rows of `Z_PRIMARYKEY` for the model's entities, by entity number.
  let rows: [Int: Row]
  /// Whether the store lists exactly the model's entities.
  ///
  /// Rows of other entities are then damage, because a store's writers use the numbers of the list. Statements rely on
  /// this, and name no entity numbers if they apply to every row of a table. ``StoreCheck`` reports a row with a number
  /// that isn't listed. Fetches of objects omit such a row, but identifiers, counts and aggregates include it, and
  /// batch changes affect it.
  let areComplete: Bool
  /// The descriptions of mismatches.
  let differences: [String]
  /// The reverse of ``byIndex``.
  let indexByNumber: [Int: Int]

  /// The entity numbers in a new store of the model.
  static func forNewStore(_ model: ManagedObjectModel) -> EntityNumbers {
    EntityNumbers(byIndex: model.entities.map(\.number), rows: [:], areComplete: true, differences: [])
  }

  /// - Parameter absent: Entities that the store was created without.
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
        differences.append("The store has entity '\(row.name)' where the model has entity '\(entity.name)'.")
      }
    }
    let areComplete =
      free.isEmpty && zip(model.entities, numbers).allSatisfy { $1 != nil || absent.contains($0.name) }
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
      differences.append("The store doesn't list entity '\(entity.name)'.")
    }
    for number in free.sorted() {
      if let name = byNumber[number]?.name {
        differences.append("The store lists entity '\(name)', which the model doesn't have.")
      }
    }
    self.init(
      byIndex: numbers.compactMap { $0 }, rows: byNumber, areComplete: areComplete, differences: differences)
  }

  private init(byIndex: [Int], rows: [Int: Row], areComplete: Bool, differences: [String]) {
    self.byIndex = byIndex
    self.areComplete = areComplete
    self.rows = rows
    self.differences = differences
    indexByNumber = Dictionary(
      byIndex.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The index in ``ManagedObjectModel/entities`` of the entity with a number; nil if the model has no such entity.
  func entityIndex(ofNumber number: Int) -> Int? { indexByNumber[number] }

  subscript(_ entity: Entity) -> Int { byIndex[entity.number - 1] }
}
