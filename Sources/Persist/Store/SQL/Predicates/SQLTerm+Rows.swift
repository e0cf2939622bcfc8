extension SQLTerm {
  /// The rows that the term refers to, other than those of its own subqueries.
  var outerRows: Set<SQLRow> {
    switch self {
    case .column(_, let row): [row]
    case .value: []
    case .binary(_, let left, let right): left.outerRows.union(right.outerRows)
    case .negative(let part), .complement(let part), .real(let part), .whole(let part), .text(let part),
      .isNull(let part), .isPresent(let part), .not(let part), .isOne(let part, _), .isMember(let part, _),
      .hasText(let part, _, _), .relevance(let part, _, _):
      part.outerRows
    case .all(let parts), .any(let parts), .call(_, let parts):
      parts.reduce(into: []) { $0.formUnion($1.outerRows) }
    case .between(let first, let second, let third), .choice(let first, let second, let third):
      first.outerRows.union(second.outerRows).union(third.outerRows)
    case .isSelected(let part, let value, let scan): part.outerRows.union(scan.outerRows(with: value))
    case .only(let value, let scan), .least(let value, let scan), .greatest(let value, let scan),
      .sum(let value, let scan):
      scan.outerRows(with: value)
    case .count(let scan), .exists(let scan): scan.outerRows
    }
  }
}

extension SQLScan {
  /// The rows of the query around it that the scan refers to.
  var outerRows: Set<SQLRow> { outerRows(with: nil) }

  fileprivate func outerRows(with value: SQLTerm?) -> Set<SQLRow> {
    let terms = tables.compactMap(\.condition) + [condition, value].compactMap { $0 }
    return terms.reduce(into: Set<SQLRow>()) { $0.formUnion($1.outerRows) }.subtracting(tables.map(\.row))
  }
}
