/// A rewrite of conditions on related rows, which lets SQLite begin with the related rows that match.
///
/// The condition on a path is translated as a subquery for each row: `(SELECT name FROM category WHERE key =
/// r0.category) = 'x'`. SQLite then evaluates it for every row. The rewrite selects the keys of the matching related
/// rows once, and SQLite finds their rows by the index on the relationship: `r0.category IN (SELECT key FROM category
/// WHERE name = 'x')`. Conditions on the members of a to-many relationship, which are `EXISTS` for each row, become
/// `key IN (SELECT owner …)` in the same way.
///
/// Both forms are true of the same rows, provided that the condition isn't true of null: a row without a related row
/// fails both. One may be false where the other is null, which conditions don't distinguish.
package struct RelatedRowsFirst {
  /// The rows that the statement reads.
  package enum Extent {
    case all
    /// The first rows of an order. It usually reads few rows, so that looking up their related rows is cheap.
    case page
  }

  /// A table and the first column of one of its indexes.
  package struct Index: Sendable, Hashable {
    package let table: String
    package let column: String

    package init(table: String, column: String) {
      self.table = table
      self.column = column
    }
  }

  /// A type of its own, because the first use of a set's type takes half a million instructions: a store that is opened
  /// only names this one.
  package struct Indexes: Sendable {
    private let columns: Set<Index>

    package init(_ columns: [Index]) { self.columns = Set(columns) }

    package func contains(_ index: Index) -> Bool { columns.contains(index) }
  }

  package let extent: Extent
  let isIndexed: (Index) -> Bool

  package init(extent: Extent, isIndexed: @escaping (Index) -> Bool) {
    self.extent = extent
    self.isIndexed = isIndexed
  }

  package func rewritten(_ term: SQLTerm) -> SQLTerm {
    switch term {
    case .all(let parts): .all(parts.map(rewritten))
    case .any(let parts): .any(parts.map(rewritten))
    case .not(.not(let part)): rewritten(part)
    case .not(.binary(.different, let part, .value(let value))) where value != .null:
      rewritten(.binary(.equal, part, .value(value)))
    case .not(let part): .not(rewritten(part))
    case .exists(let scan): exists(scan)
    // The greatest value is above a bound if any value is.
    case .binary(let operation, .greatest(let value, let scan), .value(let bound))
    where operation == .greater || operation == .greaterOrEqual:
      exists(scan.where(.binary(operation, value, .value(bound))))
    case .binary(let operation, .least(let value, let scan), .value(let bound))
    where operation == .less || operation == .lessOrEqual:
      exists(scan.where(.binary(operation, value, .value(bound))))
    default: lookup(term) ?? term
    }
  }

  // MARK: To-one relationships

  /// Rewrites a comparison of a related row's value with constants, if it is null for null.
  private func lookup(_ term: SQLTerm) -> SQLTerm? {
    guard let comparison = LookupComparison(term), comparison.isEquality || extent == .all,
      let link = Link(comparison.scan.where(rewritten(comparison.condition.withPrefixAsRange)))
    else { return nil }
    return .isSelected(link.key, link.column, of: link.scan)
  }

  // MARK: To-many relationships

  private func exists(_ scan: SQLScan) -> SQLTerm {
    var scan = scan
    scan.condition = scan.condition.map(rewritten)
    guard let condition = scan.condition, isWorthSelecting(condition, in: scan), let link = Link(scan) else {
      return .exists(scan)
    }
    return .isSelected(link.key, link.column, of: link.scan)
  }

  /// Whether selecting all members that match costs less than looking for one member of each row.
  private func isWorthSelecting(_ condition: SQLTerm, in scan: SQLScan) -> Bool {
    let strength = strength(of: condition, in: scan)
    return extent == .page ? strength == .indexed : strength != .none
  }

  /// The share of rows that a condition is likely to be true of, and the cost of finding them.
  private enum Strength: Int {
    case none, few, indexed
  }

  private func strength(of condition: SQLTerm, in scan: SQLScan) -> Strength {
    func weakest(_ parts: [SQLTerm]) -> Strength {
      parts.map { strength(of: $0, in: scan) }.min { $0.rawValue < $1.rawValue } ?? .none
    }
    func few(_ part: SQLTerm) -> Strength {
      guard let (name, row) = part.strictColumn, name != "Z_ENT" else { return .none }
      return isIndexed(part, by: name, row: row, in: scan) ? .indexed : .few
    }
    switch condition {
    case .all(let parts):
      return parts.map { strength(of: $0, in: scan) }.max { $0.rawValue < $1.rawValue } ?? .none
    case .any(let parts): return weakest(parts)
    case .isSelected: return .indexed
    case .binary(.equal, let part, .value), .isOne(let part, _), .isMember(let part, _): return few(part)
    case .binary(.greater, .call(.position, let arguments), .value): return arguments.first.map(few) ?? .none
    case .call(let function, let arguments) where function.isPattern: return arguments.first.map(few) ?? .none
    case .binary(let operation, .column(let name, let row), .value) where operation.isOrder:
      // A range may contain many rows: for a page, testing the few rows that it reads is cheaper.
      return extent == .all && isIndexed(.column(name, of: row), by: name, row: row, in: scan) ? .indexed : .none
    case .between(.column(let name, let row), .value, .value):
      return extent == .all && isIndexed(.column(name, of: row), by: name, row: row, in: scan) ? .indexed : .none
    default: return .none
    }
  }

  private func isIndexed(_ part: SQLTerm, by name: String, row: SQLRow, in scan: SQLScan) -> Bool {
    guard case .column = part, let table = scan.tables.first(where: { $0.row == row })?.name else { return false }
    return name == "Z_PK" || isIndexed(Index(table: table, column: name))
  }
}

/// The condition that ties a subquery to the row around it: a column of its first table equals a term of that row.
private struct Link {
  let key: SQLTerm
  let column: SQLTerm
  /// The scan without the link, which is independent of the row around it.
  let scan: SQLScan

  init?(_ scan: SQLScan) {
    guard let first = scan.tables.first,
      case .binary(.equal, .column(let name, let row), let key)? = first.condition, row == first.row
    else { return nil }
    self.key = key
    column = .column(name, of: row)
    var rest = scan
    rest.tables[0] = SQLScan.Table(name: first.name, row: row, condition: nil)
    guard rest.outerRows.isEmpty else { return nil }
    self.scan = rest
  }
}

/// A comparison of the value at the end of a to-one relationship with constants, which is null if the value is.
private struct LookupComparison {
  let scan: SQLScan
  /// The comparison of the related row's own value.
  let condition: SQLTerm
  let isEquality: Bool

  init?(_ term: SQLTerm) {
    switch term {
    case .binary(let operation, let part, .value(let value)) where operation == .equal || operation.isOrder:
      guard let found = Self.lookup(part) else { return nil }
      (scan, condition) = (found.scan, .binary(operation, found.value, .value(value)))
      if case .call(.position, _) = part { isEquality = false } else { isEquality = operation == .equal }
    case .between(let part, .value(let lower), .value(let upper)):
      guard let found = Self.lookup(part) else { return nil }
      (scan, condition) = (found.scan, .between(found.value, .value(lower), .value(upper)))
      isEquality = false
    case .isOne(let part, let values):
      guard let found = Self.lookup(part) else { return nil }
      (scan, condition, isEquality) = (found.scan, .isOne(found.value, of: values), true)
    case .isMember(let part, let json):
      guard let found = Self.lookup(part) else { return nil }
      (scan, condition, isEquality) = (found.scan, .isMember(found.value, ofJSON: json), true)
    case .call(let function, _) where function.isPattern:
      guard let found = Self.lookup(term) else { return nil }
      (scan, condition, isEquality) = (found.scan, found.value, false)
    default: return nil
    }
  }

  /// The scan within a term that is null if the scan's value is, and the term with the value in its place.
  private static func lookup(_ term: SQLTerm) -> (scan: SQLScan, value: SQLTerm)? {
    switch term {
    case .only(let value, let scan): return (scan, value)
    case .real(let part): return lookup(part).map { ($0.scan, .real($0.value)) }
    case .whole(let part): return lookup(part).map { ($0.scan, .whole($0.value)) }
    case .text(let part): return lookup(part).map { ($0.scan, .text($0.value)) }
    case .negative(let part): return lookup(part).map { ($0.scan, .negative($0.value)) }
    case .call(let function, let arguments) where function.isStrict && arguments.dropFirst().allSatisfy(\.isValue):
      guard let first = arguments.first, let found = lookup(first) else { return nil }
      return (found.scan, .call(function, [found.value] + arguments.dropFirst()))
    default: return nil
    }
  }
}

extension SQLFunction {
  /// Whether the result is null if the first argument is.
  fileprivate var isStrict: Bool {
    switch self {
    case .fold, .endsWith, .like, .matches, .uppercase, .lowercase, .canonical, .length, .absolute, .decimalOrder,
      .decimalKey, .position:
      true
    case .bitwiseXor, .decimalResult, .nullIf, .ifNull: false
    }
  }

  /// Whether the function is a condition on its first argument, a text.
  fileprivate var isPattern: Bool { [.endsWith, .like, .matches].contains(self) }
}

extension SQLTerm.Operator {
  fileprivate var isOrder: Bool { [.less, .lessOrEqual, .greater, .greaterOrEqual].contains(self) }
}

extension SQLTerm {
  fileprivate var isValue: Bool { if case .value = self { true } else { false } }

  /// The column that the term is a strict function of.
  fileprivate var strictColumn: (name: String, row: SQLRow)? {
    switch self {
    case .column(let name, let row): (name, row)
    case .real(let part), .whole(let part), .text(let part), .negative(let part): part.strictColumn
    case .call(let function, let arguments) where function.isStrict: arguments.first?.strictColumn
    default: nil
    }
  }

  /// A test of a column's prefix as a range, which an index supports.
  fileprivate var withPrefixAsRange: SQLTerm {
    guard case .binary(.equal, .call(.position, let arguments), .value(.integer(1))) = self, arguments.count == 2,
      case .column = arguments[0], case .value(.text(let start)) = arguments[1], !start.isEmpty
    else { return self }
    let isBehind = SQLTerm.binary(.greaterOrEqual, arguments[0], .value(.text(start)))
    return start.nextPrefix.map { .all([isBehind, .binary(.less, arguments[0], .value(.text($0)))]) } ?? isBehind
  }
}

extension SQLScan {
  fileprivate func `where`(_ condition: SQLTerm) -> SQLScan {
    var scan = self
    scan.add(condition)
    return scan
  }
}
