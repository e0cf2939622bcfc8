/// The tables, indexes, triggers and views of an SQLite file, as a value.
///
/// Names are compared as SQLite compares them: case-insensitively for ASCII, exactly otherwise.
package struct StoreSchema: Sendable, Equatable {
  package struct Column: Sendable, Equatable {
    package let name: String
    /// The type declared in the schema, such as `VARCHAR`; empty if none is declared.
    package let declaredType: String

    package init(name: String, declaredType: String) {
      self.name = name
      self.declaredType = declaredType
    }
  }

  package struct Table: Sendable, Equatable {
    package let name: String
    package let columns: [Column]
    /// The SQL text that created the table.
    package let sql: String
    /// The columns of primary keys and of unique constraints, as the engine reports them; nil if the SQL text contains
    /// them.
    package let keys: [[String]]?
    private let indexByName: [String: Int]

    package init(name: String, columns: [Column], sql: String = "", keys: [[String]]? = nil) {
      self.name = name
      self.columns = columns
      self.sql = sql
      self.keys = keys
      indexByName = Dictionary(
        columns.enumerated().map { ($1.name.foldedIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
    }

    package func column(named name: String) -> Column? { indexByName[name.foldedIdentifier].map { columns[$0] } }
    @inline(never)
    package func hasColumn(named name: String) -> Bool { indexByName[name.foldedIdentifier] != nil }
  }

  package struct Index: Sendable, Equatable {
    package let name: String
    package let table: String
    /// The SQL text that created the index; nil for one that SQLite created for a table constraint.
    package let sql: String?

    package init(name: String, table: String, sql: String? = nil) {
      self.name = name
      self.table = table
      self.sql = sql
    }
  }

  package struct Trigger: Sendable, Equatable {
    package let name: String
    package let table: String
    package let sql: String

    package init(name: String, table: String, sql: String) {
      self.name = name
      self.table = table
      self.sql = sql
    }
  }

  package struct View: Sendable, Equatable {
    package let name: String
    package let sql: String
    /// The columns that it reads, directly or through other views; nil if SQLite can't prepare it.
    package let columns: Set<ColumnPlace>?

    package init(name: String, sql: String, columns: Set<ColumnPlace>?) {
      self.name = name
      self.sql = sql
      self.columns = columns
    }
  }

  /// A column of a table.
  package struct ColumnPlace: Sendable, Hashable {
    private let table: String
    private let column: String

    package init(_ column: String, of table: String) {
      self.table = table.foldedIdentifier
      self.column = column.foldedIdentifier
    }

    package func hasName(_ column: String) -> Bool { self.column == column.foldedIdentifier }
  }

  /// In the order of the file.
  package let tables: [Table]
  package let indexes: [Index]
  package let triggers: [Trigger]
  /// Empty for a store on a server, which itself refuses to change what views read.
  package let views: [View]
  /// The rules by which the tables of the model are named.
  package let names: LayoutNames
  private let indexByName: [String: Int]

  package init(
    tables: [Table], indexes: [Index] = [], triggers: [Trigger] = [], views: [View] = [],
    names: LayoutNames = .coreData
  ) {
    self.tables = tables
    self.names = names
    self.indexes = indexes
    self.triggers = triggers
    self.views = views
    indexByName = Dictionary(
      tables.enumerated().map { ($1.name.foldedIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
  }

  package func table(named name: String) -> Table? { indexByName[name.foldedIdentifier].map { tables[$0] } }
  @inline(never)
  package func hasTable(named name: String) -> Bool { indexByName[name.foldedIdentifier] != nil }
  @inline(never)
  package func column(_ column: String, of table: String) -> Column? { self.table(named: table)?.column(named: column) }
  package func hasColumn(_ column: String, of table: String) -> Bool {
    self.table(named: table)?.hasColumn(named: column) ?? false
  }
}

extension String {
  /// The name with ASCII letters in lower case: SQLite considers two names equal if these are equal.
  ///
  /// - SeeAlso: <https://sqlite.org/lang_keywords.html>
  @inline(never)
  package var foldedIdentifier: String {
    guard utf8.contains(where: { (0x41...0x5A).contains($0) }) else { return self }
    return String(unsafeUninitializedCapacity: utf8.count) { bytes in
      // The memory belongs to this closure alone and has the requested size.
      var count = 0
      for byte in utf8 {
        bytes.initializeElement(at: count, to: (0x41...0x5A).contains(byte) ? byte + 0x20 : byte)
        count += 1
      }
      return count
    }
  }
}

extension String {
  /// The name with ASCII letters in upper case.
  package var uppercasedIdentifier: String {
    String(decoding: utf8.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }, as: UTF8.self)
  }
}

/// A column that a migration left in its table.
package enum LeftOverColumn {
  /// The prefix of the names of all such columns; no attribute's column has it.
  package static let prefix = "PERSIST_LEFT"

  package static func isOne(_ name: String) -> Bool { name.hasPrefix(prefix) }
}

/// A removed column that remained in its table under another name, with the values of a slot.
///
/// Such a column is nullable and has no constraint, so that programs that don't know it, Core Data among them, can open
/// and write the store. The rows keep their parked values, and deleting a row deletes them.
package struct ParkedColumn: Sendable, Equatable {
  package let table: String
  package let name: String
  /// The number of the entity whose rows have the values.
  package let entityNumber: Int

  package init(table: String, name: String, entityNumber: Int) {
    self.table = table
    self.name = name
    self.entityNumber = entityNumber
  }

  /// The prefix of the names of all such columns; no attribute's column has it.
  package static let prefix = "PERSIST_PARKED"

  package static func isOne(_ name: String) -> Bool { name.foldedIdentifier.hasPrefix("persist_parked_") }
}
