import Persist

/// The size of a condition, as far as the server limits it.
///
/// - SeeAlso: <https://www.postgresql.org/docs/current/limits.html>
struct ServerEffort {
  private(set) var parameters = 0
  private(set) var subqueries = 0
  private(set) var depth = 0

  /// A statement can have 65,535 parameters.
  private static let maximumParameters = 30_000
  /// Beyond about a hundred, planning a conjunction of subqueries takes longer than reading the rows: 2 seconds for
  /// 100, half a minute for 200.
  private static let maximumSubqueries = 100
  /// The parser fails at about a thousand levels.
  private static let maximumDepth = 400

  /// Whether the server can parse and plan it.
  var isBounded: Bool {
    parameters <= Self.maximumParameters && subqueries <= Self.maximumSubqueries && depth <= Self.maximumDepth
  }

  /// The effort of a conjunction.
  static func + (left: ServerEffort, right: ServerEffort) -> ServerEffort {
    var sum = left
    sum.parameters += right.parameters
    sum.subqueries += right.subqueries
    sum.depth = max(left.depth, right.depth)
    return sum
  }

  init() {}

  init(_ statement: ServerStatement) {
    parameters = statement.parameters.count
    subqueries = statement.text.ranges(of: "(SELECT ").count
    var level = 0
    for byte in statement.text.utf8 {
      if byte == UInt8(ascii: "(") { level += 1 }
      if byte == UInt8(ascii: ")") { level -= 1 }
      depth = max(depth, level)
    }
  }
}

extension ServerText {
  var effort: ServerEffort { ServerEffort(statement(in: "")) }
  /// Nil if the text exceeds the server's limits; what it would compute is then computed in memory.
  var bounded: ServerText? { effort.isBounded ? self : nil }
}
