/// A plan for reading rows of an entity, with or without its subentities: the columns, and the destination of each
/// value.
///
/// Computed once per store, so that reading a row requires no lookups.
package final class RowPlan: Sendable {
  /// The destination of a column's value.
  package struct Fill: Sendable {
    package let column: Int32
    package let slot: Int
    package let form: Form
  }

  /// The conversion from a column's value to a slot's; see ``SlotForm``.
  package enum Form: UInt8, Sendable {
    case integer, boolean, double, text, decimal, uuid, bytes
    /// An entity number of the store, converted to one of the model.
    case entityNumber
  }

  /// One concrete entity. It contains no reference-counted fields, because it is used for each row.
  package struct Variant: @unchecked Sendable {
    /// The entity's number in the store.
    let number: Int64
    package let entityIndex: UInt32
    package let slotCount: Int
    /// The plan's own memory. `@unchecked Sendable`: it is filled before the plan is shared, and never changed.
    package let fills: UnsafeBufferPointer<Fill>
  }

  /// The numbers of keys that one statement looks up. Each is at most twice the one after it: SQLite sorts the nulls
  /// beyond the last key too, each of which takes as long as reading a row.
  static let keyCounts = [256, 128, 64, 32, 16, 8, 4, 2, 1]
  /// The columns of every row, before those of its entity.
  static let fixedColumns = ["Z_PK", "Z_ENT", "Z_OPT"]

  package let entity: Entity
  /// By entity number. A list, because nearly all have one element, and the first use of a dictionary's type takes half
  /// a million instructions.
  private let variants: [Variant]
  package let columns: [String]
  /// The list of ``columns``, and that of the columns of keys only.
  let columnList: SQLText
  let keyColumnList: SQLText
  /// The selection of these rows, for ``SQLText``.
  package let selection: SQLText.RowSelection
  /// The statements for rows by key, for each of ``keyCounts``.
  let byKeys: LazyList<PreparedSQL>
  /// The equivalent statements for keys and entity numbers only.
  let keysByKeys: LazyList<PreparedSQL>

  package init(_ entity: Entity, includingSubentities: Bool, in map: TableMap) {
    let entities = includingSubentities ? Array(map.model.hierarchy(of: entity)) : [entity]
    var columns = Self.fixedColumns
    // Columns can only be shared if there are several entities.
    var positions: [String: Int32]? = entities.count > 1 ? Dictionary() : nil
    let variants = entities.map { entity in
      let own = map[entity].columns
      let fills = UnsafeMutableBufferPointer<Fill>.allocate(capacity: own.count)
      for (index, column) in own.enumerated() {
        let known = positions?[column.name]
        let position = known ?? Int32(columns.count)
        if known == nil {
          positions?[column.name] = position
          columns.append(column.name)
        }
        fills.initializeElement(at: index, to: Fill(column: position, slot: column.slot, form: Form(column.role)))
      }
      return Variant(
        number: Int64(map.numbers[entity]), entityIndex: UInt32(entity.index), slotCount: entity.rowSlotCount,
        fills: UnsafeBufferPointer(fills))
    }
    let table = map[entity].table
    let isWholeTable = entity.superentity == nil && (includingSubentities || !entity.hasSubentities)
    let numbers = entities.map { map.numbers[$0] }
    self.variants = variants.ordered { $0.number < $1.number }
    self.entity = entity
    self.columns = columns
    columnList = "\(names: columns)"
    keyColumnList = SQLText.keyColumns(ofOnly: map.onlyNumber(ofTableOf: entity))
    selection = SQLText.RowSelection(
      table: table,
      entities: !isWholeTable ? .some(numbers) : map.numbers.areComplete ? .all : .known(numbers))
    let allColumns = columns
    byKeys = LazyList(count: Self.keyCounts.count) { place in
      PreparedSQL(.rows(allColumns, of: table, keyCount: Self.keyCounts[place]))
    }
    keysByKeys = LazyList(count: Self.keyCounts.count) { place in
      PreparedSQL(.rows(["Z_PK", "Z_ENT"], of: table, keyCount: Self.keyCounts[place]))
    }
  }

  deinit {
    for variant in variants { variant.fills.deallocate() }
  }

  /// The reading plan for rows with an entity number of the store; nil for rows that the plan excludes.
  package func variant(ofNumber number: Int64) -> Variant? {
    var (start, end) = (0, variants.count)
    while start < end {
      let middle = (start + end) / 2
      if variants[middle].number < number { start = middle + 1 } else { end = middle }
    }
    return start < variants.count && variants[start].number == number ? variants[start] : nil
  }
}

extension RowPlan.Form {
  init(_ role: TableMap.Column.Role) {
    switch role {
    case .toOne: self = .integer
    case .toOneEntity: self = .entityNumber
    case .attribute(let attribute):
      switch SlotForm(attribute) {
      case .integer: self = .integer
      case .boolean: self = .boolean
      case .double, .date: self = .double
      case .string, .uri: self = .text
      case .decimal: self = .decimal
      case .uuid: self = .uuid
      case .data, .externalData, .none: self = .bytes
      }
    }
  }
}
