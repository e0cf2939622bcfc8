/// Related rows that a condition selects by key, joined to the rows that refer to them.
///
/// A condition on related rows selects their keys: `r0.category IN (SELECT key FROM category AS r1 WHERE r1.name =
/// 'x')`; see ``RelatedRowsFirst``. SQLite collects the keys in a table for each query, which takes longer than looking
/// up a few rows. In a join, it needs no table, and it may still begin with the related rows or with the others.
///
/// Because a key occurs once in its table, each row is joined to at most one related row, and isn't returned twice.
/// Related rows are named as a subquery, which SQLite merges into the statement, so that the names of columns stay
/// unambiguous.
struct RelatedRowsJoin {
  /// The joined subqueries, each after a comma.
  private(set) var tables: SQLText = ""
  /// The condition on the rows with the related ones; nil if there is none.
  private(set) var condition: SQLTerm?

  /// The number of the first joined subquery: one that no row of a condition has. The number of a related row doesn't
  /// identify it, because a condition may contain its scan twice.
  private static let firstRow = 1_000_000
  /// The name of the only column of a joined subquery.
  private static let keyName = "PERSIST_KEY"
  /// The maximum number of joined subqueries: SQLite considers every order of them.
  private static let limit = 3

  init(_ condition: SQLTerm?) {
    guard let condition else { return }
    var parts: [SQLTerm] = []
    var count = 0
    for part in condition.conjuncts {
      guard count < Self.limit, case .isSelected(let key, let selected, let scan) = part,
        scan.returnsEachOnce(selected)
      else {
        parts.append(part)
        continue
      }
      let row = SQLRow(number: Self.firstRow + count)
      count += 1
      tables += ", (\(SQLText.selection(of: selected, named: Self.keyName, from: scan))) AS \(row: row)"
      parts.append(.binary(.equal, key, .column(Self.keyName, of: row)))
    }
    self.condition = count == 0 ? condition : .all(parts)
  }
}

extension SQLTerm {
  fileprivate var conjuncts: [SQLTerm] {
    if case .all(let parts) = self { parts.flatMap(\.conjuncts) } else { [self] }
  }

  /// The row whose key the term is.
  fileprivate var keyedRow: SQLRow? {
    if case .column("Z_PK", let row) = self { row } else { nil }
  }
}

extension SQLScan {
  /// Whether a term is the key of the first table, and the scan, independent of the rows around it, returns none twice:
  /// every other table is joined by its own key.
  fileprivate func returnsEachOnce(_ term: SQLTerm) -> Bool {
    guard let first = tables.first, term.keyedRow == first.row, outerRows.isEmpty else { return false }
    return tables.dropFirst().allSatisfy { table in
      if case .binary(.equal, let key, _)? = table.condition { key.keyedRow == table.row } else { false }
    }
  }
}
