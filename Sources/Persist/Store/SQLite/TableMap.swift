/// Where everything of a model stands in a store: tables, columns, join tables, entity numbers.
///
/// A pure function of a model, the store's entity numbers and, for a store that exists, its schema. The names are those
/// that Core Data gives; `init` finds them again in stores that Core Data made.
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
    let first: Side
    let second: Side
  }

  let model: ManagedObjectModel
  /// By index in ``ManagedObjectModel/entities``.
  let tables: [EntityTable]
  let joinTables: [JoinTable]
}
