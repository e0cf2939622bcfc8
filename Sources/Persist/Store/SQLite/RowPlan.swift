/// How the rows of an entity, with or without its subentities, are read: which columns, and where each value goes.
///
/// Worked out once per store, so that reading a row looks nothing up.
final class RowPlan: Sendable {
  /// Where the value of a column goes.
  struct Fill: Sendable {
    let column: Int32
    let slot: Int
    let form: Form
  }

  /// How a column's value becomes a slot's; see ``SlotForm``.
  enum Form: UInt8, Sendable {
    case integer, boolean, double, text, decimal, uuid, bytes
    /// An entity number of the store, which becomes one of the model.
    case entityNumber
  }

  /// One concrete entity. Nothing in it is counted: it is looked at for each row.
  struct Variant: @unchecked Sendable {
    let entityIndex: UInt32
    let slotCount: Int
    /// The plan's own memory. `@unchecked Sendable`: it is filled before anybody sees the plan, and never changed.
    let fills: UnsafeBufferPointer<Fill>
  }

  /// How many rows are looked up at once by their keys.
  static let keyCounts = [256, 16, 1]
  /// The columns of every row, before those of its entity.
  static let fixedColumns = ["Z_PK", "Z_ENT", "Z_OPT"]

  let entity: Entity
  private let variants: [Variant]
  private let variantByNumber: [Int64: Variant]
  let columns: [String]
  /// The rows and nothing else: which, for ``SQLText``.
  let selection: SQLText.RowSelection
  /// Rows by keys, for each of ``keyCounts``.
  let byKeys: [PreparedSQL]
  /// Keys and entity numbers alone, likewise.
  let keysByKeys: [PreparedSQL]

  init(_ entity: Entity, includingSubentities: Bool, in map: TableMap) {
    let entities = includingSubentities ? Array(map.model.hierarchy(of: entity)) : [entity]
    var columns = Self.fixedColumns
    var positions: [String: Int32] = [:]
    let variants = entities.map { entity in
      let fills = map[entity].columns.map { column in
        let position = positions[column.name] ?? Int32(columns.count)
        if position == Int32(columns.count) {
          positions[column.name] = position
          columns.append(column.name)
        }
        return Fill(column: position, slot: column.slot, form: Form(column.role))
      }
      let kept = UnsafeMutableBufferPointer<Fill>.allocate(capacity: fills.count)
      _ = kept.initialize(from: fills)
      return Variant(
        entityIndex: UInt32(entity.number - 1), slotCount: entity.rowSlotCount, fills: UnsafeBufferPointer(kept))
    }
    let table = map[entity].table
    let numbers = entities.map { map.numbers[$0] }
    variantByNumber = Dictionary(
      zip(numbers, variants).map { (Int64($0), $1) }, uniquingKeysWith: { first, _ in first })
    self.variants = variants
    self.entity = entity
    self.columns = columns
    selection = SQLText.RowSelection(
      table: table, entities: numbers, isWholeTable: includingSubentities && entity.superentity == nil)
    let allColumns = columns
    byKeys = Self.keyCounts.map { PreparedSQL(.rows(allColumns, of: table, keyCount: $0)) }
    keysByKeys = Self.keyCounts.map { PreparedSQL(.rows(["Z_PK", "Z_ENT"], of: table, keyCount: $0)) }
  }

  deinit {
    for variant in variants { variant.fills.deallocate() }
  }

  /// How the rows with an entity number of the store are read; nil for rows that the plan leaves out.
  func variant(ofNumber number: Int64) -> Variant? { variantByNumber[number] }
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
