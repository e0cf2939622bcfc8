import Persist

/// A column whose values are completed when they are read, because other programs may write rows without everything
/// that Persist writes.
enum ServerReadColumn: Sendable {
  /// The entity number beside a key: if there is none, it is that of the row with the key.
  case entityNumber(key: String, target: String)
  /// Bytes that may be in a file elsewhere: without the mark of bytes in their row, they get it.
  case markedBytes
  /// A decimal number as text, since its binary form is the server's own.
  case decimal
  /// A moment as seconds since 2001.
  case moment

  /// The value of the column for rows of this alias.
  ///
  /// - Parameter findsTables: Whether tables are named without their schema, as in the function of a trigger.
  func value(of column: String, _ row: ServerText, findingTables findsTables: Bool = false) -> ServerText {
    let own: ServerText = "\(row).\(name: column)"
    return switch self {
    case .entityNumber(let key, let target):
      """
      CASE WHEN \(own) IS NULL AND \(row).\(name: key) IS NOT NULL \
      THEN (SELECT d.entity FROM \(findsTables ? "\(name: target)" : "\(table: target)") AS d \
      WHERE d.id = \(row).\(name: key)) ELSE \(own) END
      """
    case .markedBytes: "CASE WHEN substr(\(own), 1, 1) = '\\x01'::bytea THEN \(own) ELSE '\\x01'::bytea || \(own) END"
    case .decimal: "\(own)::text"
    case .moment: ServerTerms.Kind.moment.text(term: own, as: .double)
    }
  }
}

extension TableMap {
  /// The columns of each table whose values are completed when they are read.
  var serverReadColumns: [String: [String: ServerReadColumn]] {
    var columns: [String: [String: ServerReadColumn]] = [:]
    for table in tables {
      for column in table.columns {
        switch column.role {
        case .attribute(let attribute) where SlotForm(attribute) == .externalData:
          columns[table.table, default: [:]][column.name] = .markedBytes
        case .attribute where column.type == .decimal: columns[table.table, default: [:]][column.name] = .decimal
        case .attribute where column.type == .moment: columns[table.table, default: [:]][column.name] = .moment
        case .toOneEntity:
          guard let relationship = table.entity.property(named: column.property)?.relationship,
            let key = table.columns.first(where: { $0.property == column.property && $0.role == .toOne })
          else { continue }
          let target = self[model.destination(of: relationship)].table
          columns[table.table, default: [:]][column.name] = .entityNumber(key: key.name, target: target)
        case .attribute, .toOne: break
        }
      }
    }
    return columns
  }
}
