/// Where everything of a model stands in a store: tables, columns, join tables, entity numbers.
///
/// A pure function of a model, the store's entity numbers and, for a store that exists, its schema. The names are those
/// that Core Data gives; for a store that exists they are looked for in the schema, and where one isn't there under the
/// names that older numbers or another order of collisions would have given. What has no place at all is said in
/// ``differences``, what the store has beside it in ``unexplained``; neither is touched.
///
/// | what | where |
/// |---|---|
/// | a hierarchy of entities | one table, `Z` and the root's name in upper case |
/// | an attribute | a column, `Z` and the name in upper case; a digit behind it where the name is taken |
/// | an element of a composite attribute | a column of the element's name |
/// | a to-one relationship | a column with the destination's key |
/// | … into a hierarchy | and `Z<n>_<NAME>` with the destination's own entity number; n is the named entity's |
/// | … whose inverse is ordered | and `Z_FOK_<NAME>` with the place among the inverse's members |
/// | a to-many relationship with a to-one inverse | nothing; the inverse's columns say all |
/// | a to-many relationship without inverse | a column `Z<n><NAME>` in the destination's table; n is the owner's |
/// | a many-to-many relationship | a join table `Z_<n><RELATIONSHIP>` with a column for the keys of each side |
///
/// A transient attribute, a fetched property and an attribute without a type have no column.
struct TableMap: Sendable {
  /// The kind of column that a property gets, by Core Data's rules.
  enum ColumnType: String, Sendable, Hashable {
    case integer = "INTEGER"
    case float = "FLOAT"
    case timestamp = "TIMESTAMP"
    case decimal = "DECIMAL"
    case varchar = "VARCHAR"
    case blob = "BLOB"
  }

  /// A column of an entity's table beside `Z_PK`, `Z_ENT` and `Z_OPT`.
  struct Column: Sendable, Hashable {
    enum Role: Sendable, Hashable {
      /// The value of an attribute, or of an element of a composite one.
      case attribute(AttributeDescription)
      /// The key of a to-one relationship's destination.
      case toOne
      /// The entity number of a to-one relationship's destination: `Z<n>_<NAME>`.
      case toOneEntity
    }

    let name: String
    let type: ColumnType
    let role: Role
    /// The row slot that the column's value goes to.
    let slot: Int
    /// The property's name.
    let property: String
  }

  /// The columns of one entity within the table of its hierarchy.
  struct EntityTable: Sendable {
    let entity: Entity
    /// `Z_ENT` of the entity's rows in this store.
    let number: Int
    /// The hierarchy's table.
    let table: String
    /// Every column of the entity, inherited ones included, by row slot.
    let columns: [Column]
    /// `Z_FOK_…` columns beside a to-one whose inverse is ordered, by the to-one's slot.
    let orderColumns: [Int: String]
    /// Where the members of each to-many relationship are found, by the relationship's slot.
    let toMany: [Int: ToMany]

    /// The column whose value goes to a row slot.
    func column(slot: Int) -> Column? { columns.first { $0.slot == slot } }
  }

  /// Where the members of a to-many relationship are found.
  enum ToMany: Sendable, Hashable {
    /// In the destination's own rows, by a column that holds the owner's key.
    case foreignKey(ForeignKey)
    /// In a join table.
    case join(JoinEnd)
  }

  /// The columns by which rows of a destination name the owner of a to-many relationship.
  struct ForeignKey: Sendable, Hashable {
    /// The destination's table.
    let table: String
    /// The column with the owner's key.
    let column: String
    /// The column with the owner's entity number, where the owner is of a hierarchy.
    let entityColumn: String?
    /// The column with the place among the owner's members, where the relationship is ordered.
    let orderColumn: String?
  }

  /// A join table seen from one of its ends.
  struct JoinEnd: Sendable, Hashable {
    let table: String
    /// The column with the owner's key.
    let ownColumn: String
    /// The column with the members' keys.
    let memberColumn: String
    /// The column with the members' places, where this relationship is ordered.
    let orderColumn: String?
    /// The column with the owner's place among the members of the inverse, where the inverse is ordered.
    let inverseOrderColumn: String?
    /// Whether the relationship is its own inverse; each pair then stands in the table both ways round.
    let isReflexive: Bool
  }

  /// The table of a many-to-many relationship.
  struct JoinTable: Sendable, Hashable {
    /// One side: the rows that a column's keys belong to.
    struct Side: Sendable, Hashable {
      /// The entity and relationship whose objects the column names; the relationship leads to the other side.
      let entity: String
      let relationship: String
      /// The column with this side's keys.
      let column: String
      /// The column with the order of the other side's objects in this side's relationship, where that is ordered.
      let orderColumn: String?
    }

    let name: String
    /// The side whose relationship names the table, and whose column comes first.
    let first: Side
    let second: Side

    var isReflexive: Bool { first.entity == second.entity && first.relationship == second.relationship }
  }

  /// A column of a hierarchy's table.
  struct PlacedColumn: Sendable, Hashable {
    let name: String
    let type: ColumnType
    /// Whether it holds keys of another table, or of its own.
    let isReference: Bool
  }

  let model: ManagedObjectModel
  let numbers: EntityNumbers
  /// By index in ``ManagedObjectModel/entities``.
  let tables: [EntityTable]
  let joinTables: [JoinTable]
  /// The columns of each hierarchy's table beside `Z_PK`, `Z_ENT` and `Z_OPT`, in the order of a new table.
  let layout: [String: [PlacedColumn]]
  /// Entities that the store was made without: it has no rows of them, and no tables.
  let absent: Set<String>
  /// What the model has and the store has no place for, in words; empty where everything fits.
  let differences: [String]
  /// Tables and columns of the layout's kind that the model doesn't explain, in words; they are kept as they are.
  let unexplained: [String]

  subscript(_ entity: Entity) -> EntityTable { tables[entity.number - 1] }

  /// The table of an entity number of this store, nil where the model has no such entity.
  /// Whether everything of the model is in the same tables and columns, under the same numbers, as in another map.
  func hasPlaces(of other: TableMap) -> Bool {
    numbers.byIndex == other.numbers.byIndex && joinTables == other.joinTables
      && zip(tables, other.tables).allSatisfy { table, other in
        table.table == other.table && table.columns.map(\.name) == other.columns.map(\.name)
          && table.orderColumns == other.orderColumns
      }
  }

  func table(ofNumber number: Int) -> EntityTable? { numbers.entityIndex(ofNumber: number).map { tables[$0] } }

  /// The layout of a new store.
  static func forNewStore(_ model: ManagedObjectModel) -> TableMap {
    TableMap(model: model, numbers: .forNewStore(model), schema: nil)
  }

  /// The layout of a store that exists.
  ///
  /// - Parameter absent: entities that the store was made without.
  init(model: ManagedObjectModel, numbers: EntityNumbers, schema: StoreSchema, absent: Set<String> = []) {
    self.init(model: model, numbers: numbers, schema: .some(schema), absent: absent)
  }

  /// Everything that a store has otherwise than the model wants it, in words: empty where the model can be the store's
  /// as far as entities, tables and columns tell.
  static func schemaDifferences(
    model: ManagedObjectModel, rows: [EntityNumbers.Row], schema: StoreSchema, absent: Set<String> = []
  ) -> [String] {
    let numbers = EntityNumbers(model: model, rows: rows, absent: absent)
    let map = TableMap(model: model, numbers: numbers, schema: schema, absent: absent)
    return numbers.differences + map.differences + map.unexplained
  }

  private init(
    model: ManagedObjectModel, numbers: EntityNumbers, schema: StoreSchema?, absent: Set<String> = []
  ) {
    self.absent = absent
    var plan = TableMapBuilder(model: model, numbers: numbers, schema: schema, absent: absent)
    plan.placeTables()
    plan.placeColumns()
    plan.placeJoinTables()
    self.model = model
    self.numbers = numbers
    tables = plan.entityTables()
    layout = plan.layout()
    joinTables = plan.joinTables
    unexplained = plan.unexplained()
    differences = plan.differences
  }
}

extension TableMap.ColumnType {
  /// The kind of column for an attribute's values; nil for what is never stored.
  init?(_ type: AttributeType) {
    switch type {
    case .int16, .int32, .int64, .boolean: self = .integer
    case .double, .float: self = .float
    case .date: self = .timestamp
    case .decimal: self = .decimal
    case .string, .uri: self = .varchar
    case .binary, .transformable, .uuid: self = .blob
    case .composite, .objectID, .undefined: return nil
    }
  }
}
