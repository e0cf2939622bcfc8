/// The rules by which a layout names its tables, columns and indexes.
///
/// The columns and tables that every store has keep Core Data's names in a ``TableMap``: `Z_PK`, `Z_ENT`, `Z_OPT`,
/// `Z_METADATA` and so on. ``ServerNames`` contains their names on a server.
package enum LayoutNames: Sendable, Equatable {
  /// Core Data's rules, for files: see ``TableMap``.
  case coreData
  /// Names for people who use SQL, for servers.
  ///
  /// | what | name |
  /// |---|---|
  /// | the table of a hierarchy | `order_line`: the root's name in snake case |
  /// | an attribute | `first_name` |
  /// | an element of a composite attribute | `address_street` |
  /// | a to-one relationship | `customer_id` |
  /// | … into a hierarchy | and `customer_entity`, the destination's own entity number |
  /// | … whose inverse is ordered | and `customer_place` |
  /// | a to-many relationship without inverse | `team_members_id`, with the owner's key, in the destination's table |
  /// | a many-to-many relationship | the table `order_tags`, with `order_id` and `tag_id` |
  /// | … that is ordered | and `tag_place` |
  /// | … between rows of one table | `person_children`, with `parents_id` and `children_id` |
  ///
  /// If a name is taken, `_2` follows it, or a higher number.
  case snakeCase

  /// The names that columns of the model can't have.
  var fixedColumns: [String] {
    switch self {
    case .coreData: ["Z_PK", "Z_ENT", "Z_OPT"]
    case .snakeCase:
      ["Z_PK", "Z_ENT", "Z_OPT", "id", "entity", "version"]
        // Every table of a server has these columns.
        + ["ctid", "tableoid", "xmin", "xmax", "cmin", "cmax"]
    }
  }

  // MARK: Tables

  package func table(of entity: String) -> String {
    switch self {
    case .coreData: "Z" + entity.uppercased()
    case .snakeCase: Self.tableName(entity.snakeCase)
    }
  }

  /// The name of a table, without confusion with others of the same schema: tables of Persist and of the server,
  /// indexes and sequences, and the names of rows in statements.
  fileprivate static func tableName(_ name: String) -> String {
    let folded = name.foldedIdentifier
    let isReserved = reservedPrefixes.contains { folded.hasPrefix($0) }
    let isUsed = rowNames.contains(folded) || reservedSuffixes.contains { folded.hasSuffix($0) }
      || folded.first == "r" && folded.dropFirst().allSatisfy(\.isNumber)
    return (isReserved ? "model_" : "") + name + (isUsed ? "_table" : "")
  }

  /// The prefix of Persist's own tables and columns, and that of the server.
  private static let reservedPrefixes = ["persist_", "pg_"]
  private static let reservedSuffixes = ["_index", "_unique", "_pkey", "_id_seq"]
  private static let rowNames: Set<String> = [
    "d", "j", "m", "o", "p", "q", "s", "t", "u", "new", "old", "there", "pairs", "placed", "unordered", "excluded",
  ]

  /// The names of tables in every store.
  var storeTables: [String] {
    switch self {
    case .coreData: []
    case .snakeCase:
      ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"]
    }
  }

  // MARK: Columns

  /// The name of an attribute's column, and other possible names in an existing store.
  ///
  /// - Parameter element: The names from a composite attribute to its element; empty for all others.
  func attribute(_ name: String, _ element: ArraySlice<String> = []) -> (name: String, alternatives: [String]) {
    switch self {
    case .coreData:
      guard let last = element.last else { return ("Z" + name.uppercased(), []) }
      let names = ([name] + element).map { $0.uppercased() }
      return (
        "Z" + last.uppercased(),
        ["Z" + names.joined(separator: "_"), "Z" + names.joined(), "Z" + names.joined(separator: ".")]
      )
    case .snakeCase: return (Self.columnName(([name] + element).map(\.snakeCase).joined(separator: "_")), [])
    }
  }

  /// The name of the column with the keys of a to-one relationship.
  func toOne(_ relationship: String) -> String {
    switch self {
    case .coreData: "Z" + relationship.uppercased()
    case .snakeCase: Self.columnName(relationship.snakeCase) + "_id"
    }
  }

  /// The name of the column with the owner's key of a to-many relationship without inverse.
  ///
  /// - Parameter number: The owner's entity number.
  func owner(by relationship: String, of entity: String, number: Int) -> (name: String, alternatives: [String]) {
    let upper = relationship.uppercased()
    return switch self {
    case .coreData: ("Z\(number)\(upper)", ["Z_\(number)\(upper)", "Z\(number)_\(upper)"])
    case .snakeCase: (Self.columnName(entity.snakeCase + "_" + relationship.snakeCase) + "_id", [])
    }
  }

  /// The name of the column with the entity numbers beside a column of keys.
  ///
  /// - Parameter number: The number of the entity that the relationship leads to.
  func entityNumber(
    beside column: String, of relationship: String, number: Int
  ) -> (name: String, alternatives: [String]) {
    switch self {
    case .coreData: ("Z\(number)_" + column.dropFirst(), ["Z\(number)_\(relationship.uppercased())"])
    case .snakeCase: (Self.stem(of: column) + "_entity", [])
    }
  }

  /// The name of the column with the positions among the members of an ordered inverse.
  func order(beside column: String, of relationship: String) -> (name: String, alternatives: [String]) {
    switch self {
    case .coreData:
      ("Z_FOK_" + column.dropFirst().drop { $0 == "_" }, ["Z_FOK_\(relationship.uppercased())"])
    case .snakeCase: (Self.stem(of: column) + "_place", [])
    }
  }

  private static func columnName(_ name: String) -> String {
    name.foldedIdentifier.hasPrefix("persist_") ? "model_" + name : name
  }

  /// The name of a column of keys without its ending.
  fileprivate static func stem(of column: String) -> Substring {
    column.hasSuffix("_id") ? column.dropLast(3) : column[...]
  }

  /// A name that is taken, followed by a number.
  ///
  /// - Parameter repetition: 1 for the first name that is taken.
  package func repeated(_ name: String, _ repetition: Int) -> String {
    switch self {
    case .coreData: name + String(repetition)
    case .snakeCase: name + "_\(repetition + 1)"
    }
  }

  /// A text that distinguishes a column from those of all tables.
  func label(of column: String, in table: String) -> String {
    switch self {
    case .coreData: "\(table)_\(column)"
    case .snakeCase: "\(table)$\(column)"
    }
  }

  // MARK: Indexes

  /// The name of an index over columns that every store with the layout has.
  func index(of table: String, over column: String) -> String {
    switch self {
    case .coreData: "\(table)_\(column)_INDEX"
    case .snakeCase: "\(table)_\(column == "Z_ENT" ? "entity" : column)_index"
    }
  }

  /// The name of an index that an entity declares.
  ///
  /// - Parameters:
  ///   - name: The index's name, or those of its properties.
  ///   - isUnique: Whether it is one of a uniqueness constraint.
  func index(_ name: String, of entity: String, isUnique: Bool) -> String {
    switch self {
    case .coreData: "Z_\(entity)_\(isUnique ? "UNIQUE_" : "")\(name)"
    case .snakeCase: "\(entity.snakeCase)_\(name.snakeCase)_\(isUnique ? "unique" : "index")"
    }
  }
}

/// The tables and columns of a store on a server whose names differ from those of the rules.
///
/// While a store serves two models, a column that has other values for the second one has a name of its own there, such
/// as `count_2`, and a table that the second names differently keeps the name that the first gives it. Programs with
/// the second model go on using these names when the first is gone, so they remain until the next migration.
package struct PlaceNames: Sendable, Equatable {
  /// The actual names of tables by those of the rules.
  private var tables: [String: String] = Dictionary()
  /// The actual names of columns by the actual names of their tables and the names of the rules.
  private var columns: [String: [String: String]] = Dictionary()

  package init() {}

  package var isEmpty: Bool { tables.isEmpty && columns.isEmpty }

  /// The actual name of a table; nil if it is that of the rules.
  package subscript(table: String) -> String? {
    get { tables.isEmpty ? nil : tables[table.foldedIdentifier] }
    set { tables[table.foldedIdentifier] = newValue }
  }

  /// The actual name of a column; nil if it is that of the rules.
  ///
  /// - Parameter table: The actual name of its table.
  package subscript(table: String, column: String) -> String? {
    get { columns.isEmpty ? nil : columns[table.foldedIdentifier]?[column.foldedIdentifier] }
    set { columns[table.foldedIdentifier, default: Dictionary()][column.foldedIdentifier] = newValue }
  }

  /// Nil if the list doesn't contain names.
  package init?(_ list: PropertyList?) {
    guard let values = list?.dictionaryValue else { return nil }
    tables = values["tables"]?.dictionaryValue?.compactMapValues(\.stringValue) ?? Dictionary()
    columns = values["columns"]?.dictionaryValue?.compactMapValues {
      $0.dictionaryValue?.compactMapValues(\.stringValue)
    } ?? Dictionary()
  }

  package var propertyList: PropertyList {
    func list(_ names: [String: String]) -> PropertyList { .dictionary(names.mapValues(PropertyList.string)) }
    return .dictionary(["tables": list(tables), "columns": .dictionary(columns.mapValues(list))])
  }
}

extension LayoutNames {
  /// The name that Core Data gives to a join table, for the number and the relationship of one end, or to a column of
  /// it, for the number of the entity with its keys and the relationship of the other end.
  static func join(number: Int, relationship: String) -> String { "Z_\(number)\(relationship.uppercased())" }

  /// The name that Core Data gives to the second column of a relationship that is its own inverse.
  static let reflexive = "REFLEXIVE"

  /// The names of a join table and its columns in snake case.
  ///
  /// The keys of two entities are named for them; those of two relationships of one entity are named for these.
  static func join(
    _ first: (entity: String, relationship: String), _ second: (entity: String, relationship: String)
  ) -> (table: String, first: String, second: String) {
    let table = tableName(first.entity.snakeCase + "_" + first.relationship.snakeCase)
    // The objects in the first column are the members of the second relationship.
    let names =
      first.entity != second.entity
      ? (first.entity.snakeCase, second.entity.snakeCase)
      : first.relationship == second.relationship
        ? (first.entity.snakeCase, first.relationship.snakeCase)
        : (second.relationship.snakeCase, first.relationship.snakeCase)
    var allocator = NameAllocator(names: .snakeCase)
    return (table, allocator.allocate(names.0 + "_id"), allocator.allocate(names.1 + "_id"))
  }

  /// The name of the column with the positions of a join table's members.
  ///
  /// - Parameter column: The column with the members' keys.
  func order(ofMembers column: String) -> String {
    switch self {
    case .coreData: "Z_FOK_" + (column.hasPrefix("Z_") ? column.dropFirst(2) : column[...])
    case .snakeCase: Self.stem(of: column) + "_place"
    }
  }
}
