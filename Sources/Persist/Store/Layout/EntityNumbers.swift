/// The `Z_ENT` of each entity of a model in a store.
///
/// A store's table `Z_PRIMARYKEY` lists them by name. Core Data leaves the old name there when it renames an entity in
/// place, so an unknown name is looked up by the entity's renaming identifier, and then by the number that the entity
/// has by rule if that number's row names no entity of the model.
package struct EntityNumbers: Sendable, Equatable {
  /// A row of `Z_PRIMARYKEY`.
  package struct Row: Sendable, Hashable {
    package let number: Int
    package let name: String
    /// The number of the parent; 0 for none.
    package let parent: Int
    /// The greatest key assigned so far; nil if the store has no value.
    package let maximum: Int64?

    package init(number: Int, name: String, parent: Int, maximum: Int64? = nil) {
      self.number = number
      self.name = name
      self.parent = parent
      self.maximum = maximum
    }
  }

  /// The first of the numbers used by Core Data's own bookkeeping, such as the history.
  package static let firstSystemNumber = 16_001

  /// By index in ``ManagedObjectModel/entities``.
  package let byIndex: [Int]
  /// The rows of `Z_PRIMARYKEY` for the model's entities, by ascending entity number.
  package let rows: [Row]
  /// Whether the store lists exactly the model's entities.
  ///
  /// Rows of other entities are then damage, because a store's writers use the numbers of the list. Statements rely on
  /// this, and name no entity numbers if they apply to every row of a table. ``StoreCheck`` reports a row with a number
  /// that isn't listed. Fetches of objects omit such a row, but identifiers, counts and aggregates include it, and
  /// batch changes affect it.
  package let areComplete: Bool
  /// The descriptions of mismatches.
  package let differences: [String]
  /// The reverse of ``byIndex``, by entity number; -1 for numbers of other entities.
  ///
  /// Dictionaries of numbers would take half a million instructions when a process first uses one.
  private let indexByNumber: [Int32]

  /// The entity numbers in a new store of the model.
  static func forNewStore(_ model: ManagedObjectModel) -> EntityNumbers {
    EntityNumbers(byIndex: model.entities.map(\.number), rows: [], areComplete: true, differences: [])
  }

  /// - Parameter absent: Entities that the store was created without.
  package init(model: ManagedObjectModel, rows: [Row], absent: Set<String> = []) {
    let rows = Self.listed(rows)
    if rows.count == model.entities.count, zip(rows, model.entities).allSatisfy({ $0.name == $1.name }) {
      // Nearly every store has exactly the model's entities, in the model's order.
      self.init(byIndex: rows.map(\.number), rows: rows, areComplete: true, differences: [])
      return
    }
    let placeByName = Dictionary(rows.indices.map { (rows[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    var numbers = [Int?](repeating: nil, count: model.entities.count)
    var isFree = [Bool](repeating: true, count: rows.count)
    var differences: [String] = []

    for (index, entity) in model.entities.enumerated() {
      guard let place = placeByName[entity.name] else { continue }
      numbers[index] = rows[place].number
      isFree[place] = false
    }
    for (index, entity) in model.entities.enumerated() where numbers[index] == nil {
      if let old = entity.description.renamingIdentifier, let place = placeByName[old], isFree[place] {
        numbers[index] = rows[place].number
        isFree[place] = false
      }
    }
    for (index, entity) in model.entities.enumerated() where numbers[index] == nil {
      if let place = Self.place(of: entity.number, in: rows), isFree[place], rows.count == model.entities.count {
        numbers[index] = rows[place].number
        isFree[place] = false
        differences.append("The store has entity '\(rows[place].name)' where the model has entity '\(entity.name)'.")
      }
    }
    let areComplete =
      !isFree.contains(true) && zip(model.entities, numbers).allSatisfy { $1 != nil || absent.contains($0.name) }
    for entity in Self.number(model.entities, besides: rows, &numbers) where !absent.contains(entity.name) {
      differences.append("The store doesn't list entity '\(entity.name)'.")
    }
    for (place, row) in rows.enumerated() where isFree[place] {
      differences.append("The store lists entity '\(row.name)', which the model doesn't have.")
    }
    self.init(byIndex: numbers.compactMap { $0 }, rows: rows, areComplete: areComplete, differences: differences)
  }

  /// The rows of a model's entities, by ascending number. Of several with one number, the first counts.
  private static func listed(_ rows: [Row]) -> [Row] {
    // Usually, the numbers ascend, beginning with those of the model.
    var (count, last) = (0, 0)
    while count < rows.count, rows[count].number > last, rows[count].number < firstSystemNumber {
      last = rows[count].number
      count += 1
    }
    if rows[count...].allSatisfy({ $0.number >= firstSystemNumber }) { return Array(rows[..<count]) }
    let known = rows.filter { $0.number > 0 && $0.number < firstSystemNumber }
    if zip(known, known.dropFirst()).allSatisfy({ $0.number < $1.number }) { return known }
    var listed: [Row] = []
    for row in known.sorted(on: \.number) where listed.last?.number != row.number {
      listed.append(row)
    }
    return listed
  }

  /// The place of a number in rows with ascending numbers.
  private static func place(of number: Int, in rows: [Row]) -> Int? {
    var (start, end) = (0, rows.count)
    while start < end {
      let middle = (start + end) / 2
      if rows[middle].number < number { start = middle + 1 } else { end = middle }
    }
    return start < rows.count && rows[start].number == number ? start : nil
  }

  /// Assigns unused numbers to the entities without one, and returns these.
  private static func number(_ entities: [Entity], besides rows: [Row], _ numbers: inout [Int?]) -> [Entity] {
    guard numbers.contains(nil) else { return [] }
    var numbered: [Entity] = []
    var used = Set(numbers.compactMap { $0 })
    var next = 1
    for (index, entity) in entities.enumerated() where numbers[index] == nil {
      var number = entity.number
      while used.contains(number) || place(of: number, in: rows) != nil {
        number = next
        next += 1
      }
      numbers[index] = number
      used.insert(number)
      numbered.append(entity)
    }
    return numbered
  }

  private init(byIndex: [Int], rows: [Row], areComplete: Bool, differences: [String]) {
    self.byIndex = byIndex
    self.areComplete = areComplete
    self.rows = rows
    self.differences = differences
    var indexes = [Int32](repeating: -1, count: (byIndex.max() ?? 0) + 1)
    for (index, number) in byIndex.enumerated() where indexes[number] < 0 { indexes[number] = Int32(index) }
    indexByNumber = indexes
  }

  /// The row of an entity number; nil if the store doesn't list it.
  package func row(ofNumber number: Int) -> Row? { Self.place(of: number, in: rows).map { rows[$0] } }

  /// The index in ``ManagedObjectModel/entities`` of the entity with a number; nil if the model has no such entity.
  package func entityIndex(ofNumber number: Int) -> Int? {
    guard number >= 0, number < indexByNumber.count, indexByNumber[number] >= 0 else { return nil }
    return Int(indexByNumber[number])
  }

  package subscript(_ entity: Entity) -> Int { byIndex[entity.index] }
}
