/// The contents of a store's own tables.
extension SQLText {
  /// Every table, index and trigger: type, name, table, SQL text.
  static let catalog: SQLText =
    "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('table', 'index', 'trigger') ORDER BY rowid"

  static let views: SQLText = "SELECT sql FROM sqlite_master WHERE type = 'view' ORDER BY rowid"

  /// The columns of every table: table, column, declared type. Virtual tables are omitted, because their modules may be
  /// missing.
  static let columns: SQLText = """
    SELECT m.name, c.name, c.type FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c \
    WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.rowid, c.cid
    """

  /// The row of version 1, which is the one written, or else the first row; also SQLite's schema version.
  static let metadata: SQLText = metadata(adding: "")

  /// The same row, and the contents of two keys of the record of the model.
  static func metadata(withRecords first: String, _ second: String) -> SQLText {
    let contents = [first, second].map { key -> SQLText in
      "(SELECT VALUE FROM PERSIST_METADATA WHERE KEY = \(value: .text(key)))"
    }
    return metadata(adding: ", \(contents[0]), \(contents[1])")
  }

  private static func metadata(adding columns: SQLText) -> SQLText {
    """
    SELECT Z_UUID, Z_PLIST, (SELECT schema_version FROM pragma_schema_version)\(columns) FROM Z_METADATA \
    ORDER BY Z_VERSION IS NOT 1, Z_VERSION LIMIT 1
    """
  }

  static let entityNumbers: SQLText = "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT"
  static let modelCache: SQLText = "SELECT Z_CONTENT FROM Z_MODELCACHE WHERE length(Z_CONTENT) > 0 LIMIT 1"
  static let emptyModelCache: SQLText = "DELETE FROM Z_MODELCACHE"

  static func setMetadata(identifier: String, propertyList: SQLValue) -> SQLText {
    """
    INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) \
    VALUES (1, \(value: .text(identifier)), \(value: propertyList)) \
    ON CONFLICT (Z_VERSION) DO UPDATE SET Z_UUID = excluded.Z_UUID, Z_PLIST = excluded.Z_PLIST
    """
  }

  static let createModelRecord: SQLText =
    "CREATE TABLE IF NOT EXISTS PERSIST_METADATA (KEY VARCHAR PRIMARY KEY, VALUE BLOB)"

  static func modelRecord(_ key: String) -> SQLText {
    "SELECT VALUE FROM PERSIST_METADATA WHERE KEY = \(value: .text(key))"
  }

  static func setModelRecord(_ key: String, _ content: SQLValue) -> SQLText {
    """
    INSERT INTO PERSIST_METADATA (KEY, VALUE) VALUES (\(value: .text(key)), \(value: content)) \
    ON CONFLICT (KEY) DO UPDATE SET VALUE = excluded.VALUE
    """
  }
}

extension SQLText {
  /// The definitions of all objects that may call functions: triggers, views, indexes over expressions, tables with
  /// generated columns or checks.
  static let definitions: SQLText = """
    SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL AND CASE type \
    WHEN 'table' THEN instr(sql, 'AS (') OR instr(sql, 'CHECK') \
    WHEN 'index' THEN sql LIKE '%(%(%' ELSE 1 END
    """

  static func knows(function name: String) -> SQLText {
    "SELECT 1 FROM pragma_function_list WHERE name = \(value: .text(name)) COLLATE NOCASE"
  }
}
