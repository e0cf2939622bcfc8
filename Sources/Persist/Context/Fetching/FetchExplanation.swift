/// The way in which a request would be executed: statements, work in memory, and missing indexes.
///
/// ```swift
/// print(try context.explain(FetchRequest("Item", where: "quantity < %@", 5)))
/// ```
public struct FetchExplanation: Sendable, Hashable {
  /// The statements, one for each store that contains the entity.
  public var statements: [StatementExplanation]
  /// The part of the predicate without an exact SQL equivalent, which is evaluated for each object that the statements
  /// find.
  public var askedInMemory: FetchPredicate?
  /// The order applied in memory because SQL can't express it; empty if the statements sort.
  public var sortedInMemory: [FetchSortDescriptor] = []
  /// Attributes whose index would avoid a full table scan or sorting.
  public var missingIndexes: [MissingIndex]

  /// An attribute whose index would help a request.
  public struct MissingIndex: Sendable, Hashable {
    /// The work that the index would avoid.
    public enum Purpose: String, Sendable, Hashable {
      /// Finding the matching rows without scanning the table.
      case finding = "to find rows"
      /// Reading the rows in the requested order instead of sorting them.
      case sorting = "to read rows in order"
    }

    /// The name of the entity to which the index would be added.
    public var entity: String
    /// The name of the attribute to index.
    public var attribute: String
    /// The work that the index would avoid.
    public var purpose: Purpose
  }
}

extension FetchExplanation: CustomStringConvertible {
  public var description: String {
    var lines: [String] = []
    for statement in statements {
      lines.append(ValueWords.line(statement.sql))
      let values = statement.values.map(Self.words)
      if !values.isEmpty { lines.append("  values: " + values.joined(separator: ", ")) }
      lines += statement.plan.map { "  plan: " + $0 }
    }
    if let askedInMemory { lines.append("in memory: \(askedInMemory)") }
    if !sortedInMemory.isEmpty {
      let levels = sortedInMemory.map { $0.isAscending ? $0.key : "\($0.key) descending" }
      lines.append("sorted in memory: " + levels.joined(separator: ", "))
    }
    lines += missingIndexes.map { "missing index: \($0.entity).\($0.attribute), \($0.purpose.rawValue)" }
    return lines.joined(separator: "\n")
  }

  /// The words for a literal of SQL.
  private static func words(_ literal: String) -> String {
    guard literal.count > 1, literal.hasPrefix("'"), literal.hasSuffix("'") else {
      return ValueWords.line(literal, shown: 80)
    }
    return ValueWords.text(literal.dropFirst().dropLast().replacing("''", with: "'"))
  }
}
