/// Comparisons of an object's entity.
extension PredicateTranslation {
  /// A row has few possible entities: each is evaluated in memory, and the condition lists the numbers of the matching
  /// ones.
  ///
  /// - Returns: Nil if the comparison isn't one of an entity with a constant.
  func entityCondition(_ comparison: FetchPredicate.Comparison, in scope: Scope) -> SQLTerm? {
    guard comparison.modifier == .direct, comparison.right.isConstant, let row = entityRow(comparison.left, in: scope)
    else { return nil }
    let evaluator = ExpressionEvaluator(now: now)
    var asked = comparison
    asked.left = .current
    do {
      let entities = try map.model.entities.filter { entity in
        try entity.isKind(of: row.entity)
          && evaluator.matches(.comparison(asked), .object(NamedEntity(name: entity.name)))
      }
      if entities.isEmpty { return .never }
      return .isOne(.column("Z_ENT", of: row.row), of: entities.map { .integer(Int64(map.numbers[$0])) })
    } catch {
      return nil
    }
  }

  /// The row whose entity the expression denotes: `entity` or `entity.name`, of the object or a subquery's variable.
  private func entityRow(_ expression: FetchExpression, in scope: Scope) -> Row? {
    guard case .path(let root, let keys) = expression, keys == ["entity"] || keys == ["entity", "name"],
      let row = self.row(root, in: scope), row.entity.slot(named: "entity") == nil
    else { return nil }
    return row
  }

  /// The row that an expression denotes.
  func row(_ root: FetchExpression, in scope: Scope) -> Row? {
    switch root {
    case .current: scope.root
    case .variable(let name): scope.members[name]
    default: nil
    }
  }
}

extension FetchExpression {
  /// Whether the expression is a constant or a list of constants.
  fileprivate var isConstant: Bool {
    switch self {
    case .constant: true
    case .aggregate(let parts): parts.allSatisfy(\.isConstant)
    default: false
    }
  }
}
