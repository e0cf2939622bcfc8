/// The contents of a store's own tables.
extension SQLText {
  /// Every table, index, trigger and view: type, name, table, SQL text.
  package static let catalog: SQLText = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY rowid"

  /// Every view: name, SQL text.
  package static let views: SQLText = "SELECT name, sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid"

  /// The columns of every table: table, column, declared type. Virtual tables are omitted, because their modules may be
  /// missing.
  package static let columns: SQLText = """
    SELECT m.name, c.name, c.type FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c \
    WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.rowid, c.cid
    """

  /// The row of version 1, which is the one written, or else the first row; also SQLite's schema version.
  package static let metadata: SQLText = metadata("(SELECT schema_version FROM pragma_schema_version)")

  /// The same row, and the contents of two keys of the record of the model.
  ///
  /// - Parameter schemaVersion: The version as a statement of its own returns it, in the same transaction: the table of
  ///   the pragma takes ten times as long.
  package static func metadata(schemaVersion: Int64, withRecords first: String, _ second: String) -> SQLText {
    metadata("\(value: .integer(schemaVersion)), \(contents(of: [first, second]))")
  }

  /// A column for the content of each key of the record of the model.
  private static func contents(of keys: [String]) -> SQLText {
    keys.map { key -> SQLText in
      "(SELECT VALUE FROM PERSIST_METADATA WHERE KEY = \(value: .text(key)))"
    }.joined(separator: ", ")
  }

  private static func metadata(_ columns: SQLText) -> SQLText {
    """
    SELECT Z_UUID, Z_PLIST, \(columns) FROM Z_METADATA \
    ORDER BY Z_VERSION IS NOT 1, Z_VERSION LIMIT 1
    """
  }

  package static let entityNumbers: SQLText = "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"
  package static let modelCache: SQLText = "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE length(Z_CONTENT) > 0 LIMIT 1"
  package static let emptyModelCache: SQLText = "DELETE FROM Z_MODELCACHE"

  package static func setMetadata(identifier: String, propertyList: SQLValue) -> SQLText {
    """
    INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) \
    VALUES (1, \(value: .text(identifier)), \(value: propertyList)) \
    ON CONFLICT (Z_VERSION) DO UPDATE SET Z_UUID = excluded.Z_UUID, Z_PLIST = excluded.Z_PLIST
    """
  }

  package static let createModelRecord: SQLText =
    "CREATE TABLE IF NOT EXISTS PERSIST_METADATA (KEY VARCHAR PRIMARY KEY, VALUE BLOB)"

  /// One row with the contents of keys.
  package static func modelRecords(_ keys: [String]) -> SQLText { "SELECT \(contents(of: keys))" }

  package static func modelRecord(_ key: String) -> SQLText {
    "SELECT VALUE FROM PERSIST_METADATA WHERE KEY = \(value: .text(key))"
  }

  package static func setModelRecord(_ key: String, _ content: SQLValue) -> SQLText { setModelRecord([(key, content)]) }

  package static func setModelRecord(_ contents: [(key: String, content: SQLValue)]) -> SQLText {
    let rows = contents.map { entry -> SQLText in "(\(value: .text(entry.key)), \(value: entry.content))" }
    return """
      INSERT INTO PERSIST_METADATA (KEY, VALUE) VALUES \(rows.joined(separator: ", ")) \
      ON CONFLICT (KEY) DO UPDATE SET VALUE = excluded.VALUE
      """
  }
}

extension SQLText {
  /// The definitions of all objects that may call functions: triggers, views, indexes over expressions, tables with
  /// generated columns or checks.
  package static let definitions: SQLText = """
    SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL AND CASE type \
    WHEN 'table' THEN instr(sql, 'AS (') OR instr(sql, 'CHECK') \
    WHEN 'index' THEN sql LIKE '%(%(%' ELSE 1 END
    """

  package static func knows(function name: String) -> SQLText {
    "SELECT 1 FROM pragma_function_list WHERE name = \(value: .text(name)) COLLATE NOCASE"
  }
}
