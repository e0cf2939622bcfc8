/// The stack space that a term requires in SQLite's parser, which rejects statements that nest too deeply.
///
/// The parser's stack has 100 entries in versions before 3.46; each open parenthesis, operator or keyword uses one. The
/// number of entries that each form uses up to each of its parts was measured with 3.40.
///
/// - SeeAlso: <https://sqlite.org/limits.html>, <https://sqlite.org/compile.html#yystackdepth>
package struct ParserStackUse {
  /// The entries of 100 that a term may use: the statement around it uses up to 28.
  static let stackLimit = 72
  /// The maximum number of parts of a term. Terms that repeat their operands would otherwise grow exponentially.
  static let partLimit = 100_000
  /// SQLite joins at most 64 tables.
  static let tableLimit = 60

  private var parts = 0

  /// Whether SQLite can parse a term.
  ///
  /// - Parameter joined: The number of further conditions that it may be combined with.
  package static func holds(_ term: SQLTerm, joinedWith joined: Int = 0) -> Bool {
    var room = ParserStackUse()
    return room.holds(term, under: levels(of: joined + 1))
  }

  /// The entries that a balanced tree with this number of parts uses above each of them.
  private static func levels(of parts: Int) -> Int {
    parts < 2 ? 0 : 3 * (Int.bitWidth - (parts - 1).leadingZeroBitCount)
  }

  /// - Parameter used: The entries in use when the parser reaches the term.
  private mutating func holds(_ term: SQLTerm, under used: Int) -> Bool {
    parts += 1
    guard used <= Self.stackLimit, parts <= Self.partLimit else { return false }
    switch term {
    case .column, .value: return true
    case .binary(_, let left, let right): return holds(left, under: used + 1) && holds(right, under: used + 3)
    case .negative(let part), .complement(let part), .real(let part), .whole(let part), .text(let part):
      return holds(part, under: used + 2)
    case .isNull(let part), .isPresent(let part), .not(let part), .isOne(let part, _):
      return holds(part, under: used + 1)
    case .isMember(let part, _), .hasText(let part, _, _):
      // The part is followed by a subquery.
      return used + 12 <= Self.stackLimit && holds(part, under: used + 1)
    case .isSelected(let part, let value, let scan):
      return holds(part, under: used + 1) && holds(value, under: used + 8) && holds(scan, under: used + 9)
    case .all(let parts), .any(let parts): return holds(parts, under: used + Self.levels(of: parts.count))
    case .between(let part, let lower, let upper):
      return holds(part, under: used + 1) && holds(lower, under: used + 3) && holds(upper, under: used + 5)
    case .relevance(let part, _, _): return holds(part, under: used + 10)
    case .call(_, let arguments): return holds(arguments, under: used + (arguments.count > 1 ? 5 : 3))
    case .choice(let condition, let first, let second):
      return holds(condition, under: used + 4) && holds(first, under: used + 6) && holds(second, under: used + 5)
    case .only(let value, let scan): return holds(value, under: used + 5) && holds(scan, under: used + 6)
    case .count(let scan): return holds(scan, under: used + 6)
    case .exists(let scan): return holds(scan, under: used + 7)
    case .least(let value, let scan), .greatest(let value, let scan):
      return holds(value, under: used + 8) && holds(scan, under: used + 6)
    case .sum(let value, let scan): return holds(value, under: used + 11) && holds(scan, under: used + 6)
    }
  }

  private mutating func holds(_ terms: [SQLTerm], under used: Int) -> Bool {
    for term in terms where !holds(term, under: used) { return false }
    return true
  }

  private mutating func holds(_ scan: SQLScan, under used: Int) -> Bool {
    guard scan.tables.count <= Self.tableLimit else { return false }
    let conditions = scan.tables.compactMap(\.condition) + (scan.condition.map { [$0] } ?? [])
    return holds(conditions, under: used + Self.levels(of: conditions.count))
  }
}
