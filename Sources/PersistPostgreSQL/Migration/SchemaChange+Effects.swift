import Persist

extension SchemaChange {
  /// Whether the change is to a table rather than to rows.
  var changesTables: Bool {
    switch self {
    case .dropTrigger, .dropView, .dropIndex, .createIndex, .createTable, .dropTable, .renameTable, .renameColumn,
      .addColumn, .dropColumn, .rebuildTable:
      true
    case .update, .readFiles, .deleteRows, .copyRows, .sever, .removePairs, .setAside, .join, .setKeys,
      .takeEntityNumbers, .assignPositions, .forget, .deleteHistory, .renumberEntities, .setEntities:
      false
    }
  }

  /// Whether rows that others refer to, or the keys in rows, may change, or a table is replaced.
  var movesRows: Bool {
    switch self {
    case .dropTrigger, .dropView, .dropIndex, .createIndex, .createTable, .renameTable, .renameColumn, .addColumn,
      .dropColumn, .readFiles, .takeEntityNumbers, .assignPositions, .forget, .deleteHistory, .renumberEntities,
      .setEntities:
      false
    case .update(_, let assignments, _): assignments.contains { $0.column.hasSuffix("_id") }
    case .dropTable, .rebuildTable, .deleteRows, .copyRows, .sever, .removePairs, .setAside, .join, .setKeys: true
    }
  }
}
