extension TableMap {
  /// The type of a property's column.
  ///
  /// | attribute | in a file, as in Core Data | on a server |
  /// |---|---|---|
  /// | `int64`, keys, entity numbers, positions | `INTEGER` | `bigint` |
  /// | `int32`, `int16` | `INTEGER` | `integer`, `smallint` |
  /// | … that is derived | `INTEGER` | `bigint` |
  /// | `boolean` | `INTEGER` | `boolean` |
  /// | `double`, `float` | `FLOAT` | `double precision` |
  /// | `date` | `TIMESTAMP` | `persist_date`, a `double precision` |
  /// | … with ``AttributeDescription/isServerTimestamp`` | `TIMESTAMP` | `timestamp with time zone` |
  /// | `decimal` | `DECIMAL` | `numeric` |
  /// | `string`, `uri` | `VARCHAR` | `text` |
  /// | `uuid` | `BLOB` | `uuid` |
  /// | `binary`, `transformable` | `BLOB` | `bytea` |
  ///
  /// `ServerTerms.Kind` contains everything that depends on a column's type on a server.
  package enum ColumnType: String, Sendable, Equatable {
    case integer = "INTEGER"
    case float = "FLOAT"
    case timestamp = "TIMESTAMP"
    case decimal = "DECIMAL"
    case varchar = "VARCHAR"
    case blob = "BLOB"
    // Only on servers.
    case int32 = "INT4"
    case int16 = "INT2"
    case boolean = "BOOLEAN"
    case uuid = "UUID"
    case moment = "TIMESTAMPTZ"
  }
}

extension LayoutNames {
  /// The type of an attribute's column; nil for types that are never stored.
  package func columnType(of attribute: AttributeDescription) -> TableMap.ColumnType? {
    let isOnServer = self == .snakeCase
    // A derived number isn't limited to its type's range: a count may exceed it.
    let isNarrow = isOnServer && !attribute.isDerived
    switch attribute.type {
    case .int16: return isNarrow ? .int16 : .integer
    case .int32: return isNarrow ? .int32 : .integer
    case .int64: return .integer
    case .boolean: return isOnServer ? .boolean : .integer
    case .double, .float: return .float
    case .date: return isNarrow && attribute.roundsDates ? .moment : .timestamp
    case .decimal: return .decimal
    case .string, .uri: return .varchar
    case .uuid: return isOnServer ? .uuid : .blob
    case .binary, .transformable: return .blob
    case .composite, .objectID, .undefined: return nil
    }
  }
}

extension TableMap.ColumnType {
  /// Whether a column is declared with this type, ignoring a length such as that of `VARCHAR(255)`.
  @inline(never)
  package func isDeclared(by column: StoreSchema.Column) -> Bool {
    if column.declaredType == rawValue { return true }
    let declared = column.declaredType.prefix { $0 != "(" }.uppercased()
    return declared.trimmingPrefix(" ") == rawValue || declared.hasPrefix(rawValue + " ")
  }

  /// The type of an existing column that can contain all values of this type, dates with microseconds; nil if it can't.
  ///
  /// A store that an older version of Persist created on a server, or whose columns others widened, is used as it is.
  /// A migration gives its columns the present types.
  @inline(never)
  func usable(in column: StoreSchema.Column) -> TableMap.ColumnType? {
    isDeclared(by: column) ? self : wider.first { $0.isDeclared(by: column) }
  }

  private var wider: [TableMap.ColumnType] {
    switch self {
    case .int16: [.int32, .integer]
    case .int32, .boolean: [.integer]
    case .uuid: [.blob]
    case .moment: [.timestamp]
    case .timestamp: [.moment]
    case .integer, .float, .decimal, .varchar, .blob: []
    }
  }
}

/// The change of the mark byte that precedes each value of an attribute that allows external storage.
package enum MarkChange: Sendable, Equatable {
  case same, added, removed

  package init(from old: AttributeDescription, to new: AttributeDescription) {
    switch (old.storesMarkedBytes, new.storesMarkedBytes) {
    case (false, true): self = .added
    case (true, false): self = .removed
    default: self = .same
    }
  }
}
