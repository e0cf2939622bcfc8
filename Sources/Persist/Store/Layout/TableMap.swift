/// The layout of a model in a store: tables, columns, join tables, entity numbers.
///
/// A pure function of a model, the store's entity numbers and, for an existing store, its schema. The names follow Core
/// Data's rules in a file, and ``LayoutNames/snakeCase`` on a server. For an existing store they are looked up in the
/// schema, falling back to the names that older numbers or a different order of collisions would have produced.
/// ``differences`` lists everything without a place, ``unexplained`` everything else that the store contains; neither
/// is modified.
///
/// | what | where, with Core Data's names |
/// |---|---|
/// | a hierarchy of entities | one table, `Z` and the root's name in upper case |
/// | an attribute | a column, `Z` and the name in upper case, followed by a digit if the name is taken |
/// | an element of a composite attribute | a column of the element's name |
/// | a to-one relationship | a column with the destination's key |
/// | … into a hierarchy | and `Z<n>_<NAME>` with the destination's own entity number; n is the named entity's |
/// | … whose inverse is ordered | and `Z_FOK_<NAME>` with the position among the inverse's members |
/// | a to-many relationship with a to-one inverse | nothing; the inverse's columns contain all information |
/// | a to-many relationship without inverse | a column `Z<n><NAME>` in the destination's table; n is the owner's |
/// | a many-to-many relationship | a join table `Z_<n><RELATIONSHIP>` with a column for the keys of each side |
///
/// A transient attribute, a fetched property and an attribute without a type have no column.
package final class TableMap: Sendable {
  /// A column of an entity's table other than `Z_PK`, `Z_ENT` and `Z_OPT`.
  package struct Column: Sendable, Equatable {
    package enum Role: Sendable, Equatable {
      /// The value of an attribute, or of an element of a composite one.
      indirect case attribute(AttributeDescription)
      /// The key of a to-one relationship's destination.
      case toOne
      /// The entity number of a to-one relationship's destination: `Z<n>_<NAME>`.
      case toOneEntity
    }

    package let name: String
    package let type: ColumnType
    package let role: Role
    /// The row slot of the column's value.
    package let slot: Int
    /// The property's name.
    package let property: String
  }

  /// The columns of one entity within the table of its hierarchy.
  package final class EntityTable: Sendable {
    package let entity: Entity
    /// `Z_ENT` of the entity's rows in this store.
    package let number: Int
    /// The hierarchy's table.
    package let table: String
    /// All columns of the entity, including inherited ones, by row slot.
    package let columns: [Column]
    /// The `Z_FOK_…` columns of to-one relationships with an ordered inverse, by the to-one's slot.
    package let orderColumns: [Int: String]
    /// The location of the members of each to-many relationship, by the relationship's slot.
    package var toMany: [Int: ToMany] { computedToMany.value.bySlot }
    private let computedToMany: Lazy<ToManys>

    /// A type of its own, because the first use of a dictionary's type takes half a million instructions.
    private struct ToManys {
      let bySlot: [Int: ToMany]
    }

    init(
      entity: Entity, number: Int, table: String, columns: [Column], orderColumns: [Int: String],
      toMany: @escaping @Sendable () -> [Int: ToMany]
    ) {
      (self.entity, self.number, self.table) = (entity, number, table)
      (self.columns, self.orderColumns) = (columns, orderColumns)
      computedToMany = Lazy { ToManys(bySlot: toMany()) }
    }

    /// The column of a row slot.
    package func column(slot: Int) -> Column? { columns.first { $0.slot == slot } }
  }

  /// The location of the members of a to-many relationship.
  package enum ToMany: Sendable, Equatable {
    /// In the destination's own rows, in a column that contains the owner's key.
    case foreignKey(ForeignKey)
    /// In a join table.
    case join(JoinEnd)
  }

  /// The columns of a destination's rows that identify the owner of a to-many relationship.
  package struct ForeignKey: Sendable, Equatable {
    /// The destination's table.
    package let table: String
    /// The column with the owner's key.
    package let column: String
    /// The column with the owner's entity number, if the owner's entity is part of a hierarchy.
    package let entityColumn: String?
    /// The column with the position among the owner's members, if the relationship is ordered.
    package let orderColumn: String?

    package init(table: String, column: String, entityColumn: String?, orderColumn: String?) {
      self.table = table
      self.column = column
      self.entityColumn = entityColumn
      self.orderColumn = orderColumn
    }
  }

  /// A join table seen from one of its ends.
  package struct JoinEnd: Sendable, Equatable {
    package let table: String
    /// The column with the owner's key.
    package let ownColumn: String
    /// The column with the members' keys.
    package let memberColumn: String
    /// The column with the members' positions, if this relationship is ordered.
    package let orderColumn: String?
    /// The column with the owner's position among the members of the inverse, if the inverse is ordered.
    package let inverseOrderColumn: String?
    /// Whether the relationship is its own inverse; the table then contains each pair in both directions.
    package let isReflexive: Bool

    package init(
      table: String, ownColumn: String, memberColumn: String, orderColumn: String?, inverseOrderColumn: String?,
      isReflexive: Bool
    ) {
      self.table = table
      self.ownColumn = ownColumn
      self.memberColumn = memberColumn
      self.orderColumn = orderColumn
      self.inverseOrderColumn = inverseOrderColumn
      self.isReflexive = isReflexive
    }
  }

  /// The table of a many-to-many relationship.
  package struct JoinTable: Sendable, Equatable {
    /// One side: the rows identified by a column's keys.
    package struct Side: Sendable, Equatable {
      /// The entity and relationship of the objects in the column; the relationship leads to the other side.
      package let entity: String
      package let relationship: String
      /// The column with this side's keys.
      package let column: String
      /// The column with the order of the other side's objects in this side's relationship, if it is ordered.
      package let orderColumn: String?
    }

    package let name: String
    /// The side whose relationship the table is named for, and whose column is first.
    package let first: Side
    package let second: Side

    package var isReflexive: Bool { first.entity == second.entity && first.relationship == second.relationship }
  }

  /// A column of a hierarchy's table.
  package struct PlacedColumn: Sendable, Equatable {
    package let name: String
    package let type: ColumnType
    /// Whether it contains keys of another table or of its own.
    let isReference: Bool
  }

  /// The maximum size of values stored in their row if their attribute allows external storage.
  ///
  /// Core Data's own limit isn't documented; according to SQLite, files become faster at about 100 KB.
  ///
  /// - SeeAlso: <https://sqlite.org/intern-v-extern-blob.html>
  package static let largestInlineValue = 100 * 1024

  package let model: ManagedObjectModel
  /// The rules of the names.
  package let names: LayoutNames
  package let numbers: EntityNumbers
  /// By index in ``ManagedObjectModel/entities``.
  package let tables: LazyList<EntityTable>
  package var joinTables: [JoinTable] { builder.value.joinTables }
  private let builder: Lazy<TableMapBuilder>
  /// The columns of each hierarchy's table other than `Z_PK`, `Z_ENT` and `Z_OPT`, in the order of a new table.
  package var layout: [String: [PlacedColumn]] { computedLayout.value }
  private let computedLayout: Lazy<[String: [PlacedColumn]]>
  /// Entities that the store was created without: it has neither rows nor tables for them.
  package let absent: Set<String>
  /// The tables and columns whose names differ from those of the rules.
  package let placeNames: PlaceNames
  /// Descriptions of the parts of the model without a place in the store; empty if everything fits.
  package let differences: [String]
  /// Descriptions of tables and columns of the layout's kind that don't belong to the model; they are left unchanged.
  var unexplained: [String] { computedUnexplained.value }
  private let computedUnexplained: Lazy<[String]>

  package subscript(_ entity: Entity) -> EntityTable { tables[entity.index] }

  /// Whether every part of the model is in the same tables and columns, under the same numbers, as in another map.
  package func hasPlaces(of other: TableMap) -> Bool {
    numbers.byIndex == other.numbers.byIndex && joinTables == other.joinTables
      && zip(tables, other.tables).allSatisfy { table, other in
        table.table == other.table && table.columns.map(\.name) == other.columns.map(\.name)
          && table.orderColumns == other.orderColumns
      }
  }

  /// Whether rows of all entities are written identically in both.
  package func hasSamePlaces(as other: TableMap) -> Bool {
    numbers.byIndex == other.numbers.byIndex && absent == other.absent && layout == other.layout
      && joinTables == other.joinTables
      && zip(tables, other.tables).allSatisfy { one, two in
        one.table == two.table && one.columns == two.columns && one.orderColumns == two.orderColumns
          && one.toMany == two.toMany
      }
  }

  /// The table of an entity number of this store; nil if the model has no such entity.
  package func table(ofNumber number: Int) -> EntityTable? { numbers.entityIndex(ofNumber: number).map { tables[$0] } }

  /// The entity number of every row of an entity's table; nil if rows may have different ones.
  package func onlyNumber(ofTableOf entity: Entity) -> Int? {
    numbers.areComplete && !entity.root.hasSubentities ? self[entity].number : nil
  }

  /// The layout of a new store.
  @inline(never)
  package static func forNewStore(_ model: ManagedObjectModel, names: LayoutNames = .coreData) -> TableMap {
    TableMap(model: model, numbers: .forNewStore(model), schema: nil, names: names)
  }

  /// The layout of a new store whose entities have given numbers.
  package static func forNewStore(
    _ model: ManagedObjectModel, numbers: [EntityNumbers.Row], names: LayoutNames,
    placeNames: PlaceNames = PlaceNames()
  ) -> TableMap {
    TableMap(
      model: model, numbers: EntityNumbers(model: model, rows: numbers), schema: nil, names: names,
      placeNames: placeNames)
  }

  /// The layout of an existing store.
  ///
  /// - Parameters:
  ///   - absent: Entities that the store was created without.
  ///   - placeNames: Tables and columns whose names differ from those of the rules.
  @inline(never)
  package convenience init(
    model: ManagedObjectModel, numbers: EntityNumbers, schema: StoreSchema, absent: Set<String> = [],
    placeNames: PlaceNames = PlaceNames()
  ) {
    self.init(
      model: model, numbers: numbers, schema: .some(schema), names: schema.names, absent: absent,
      placeNames: placeNames)
  }

  /// Descriptions of all differences between a store and the model's layout: empty if the model is a possible model of
  /// the store, judging by entities, tables and columns.
  package static func schemaDifferences(
    model: ManagedObjectModel, rows: [EntityNumbers.Row], schema: StoreSchema, absent: Set<String> = [],
    placeNames: PlaceNames = PlaceNames()
  ) -> [String] {
    let numbers = EntityNumbers(model: model, rows: rows, absent: absent)
    let map = TableMap(model: model, numbers: numbers, schema: schema, absent: absent, placeNames: placeNames)
    return numbers.differences + map.differences + map.unexplained
  }

  @inline(never)
  private convenience init(
    model: ManagedObjectModel, numbers: EntityNumbers, schema: StoreSchema?, names: LayoutNames,
    absent: Set<String> = [], placeNames: PlaceNames = PlaceNames()
  ) {
    let builder = TableMapBuilder.placing(
      model, numbers, in: schema, names: names, absent: absent, placeNames: placeNames)
    self.init(
      model, numbers: numbers, names: names, absent: absent, placeNames: builder.placeNames,
      differences: builder.differences,
      builder: Lazy { builder }, columns: { _ in builder })
  }

  /// The layout of a store that is known to have exactly the tables and columns that the rules predict for these
  /// numbers. The columns of each hierarchy are determined when they are first used.
  package convenience init(predictedFor model: ManagedObjectModel, _ numbers: EntityNumbers) {
    let owners = Lazy { TableMapBuilder.ownersWithoutInverse(in: model) }
    let hierarchies = LazyList(count: model.entities.count) { root in
      TableMapBuilder.Hierarchy(model.entities[root], owners: owners.value[root], in: model, numbers)
    }
    self.init(
      model, numbers: numbers, names: .coreData, absent: [], placeNames: PlaceNames(), differences: [],
      builder: Lazy { TableMapBuilder.placing(model, numbers, in: nil, names: .coreData, absent: []) },
      columns: { hierarchies[$0.root.index].builder })
  }

  /// - Parameters:
  ///   - builder: Everything in its place.
  ///   - columns: Returns a builder that has placed the columns of an entity.
  private init(
    _ model: ManagedObjectModel, numbers: EntityNumbers, names: LayoutNames, absent: Set<String>,
    placeNames: PlaceNames, differences: [String], builder: Lazy<TableMapBuilder>,
    columns: @escaping @Sendable (Entity) -> TableMapBuilder
  ) {
    self.absent = absent
    self.placeNames = placeNames
    self.names = names
    self.model = model
    self.numbers = numbers
    self.differences = differences
    self.builder = builder
    let ends = Lazy { TableMapBuilder.JoinEnds(of: builder.value.joinTables) }
    tables = LazyList(count: model.entities.count) { index in
      let entity = model.entities[index]
      return columns(entity).entityTable(entity) { builder.value.members(of: entity, joinEnds: ends.value) }
    }
    computedLayout = Lazy { builder.value.layout() }
    computedUnexplained = Lazy { builder.value.unexplained() }
  }
}
