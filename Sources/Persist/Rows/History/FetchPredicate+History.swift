extension FetchPredicate {
  /// The conditions that a store can use to read fewer transactions: every transaction that matches the predicate
  /// matches them too.
  package var historyQuery: HistoryQuery {
    var query = HistoryQuery()
    let parts: [FetchPredicate] = if case .and(let parts) = self { parts } else { [self] }
    for case .comparison(let comparison) in parts where comparison.modifier == .direct {
      guard let keys = comparison.left.keys,
        let value = comparison.right.constantValue ?? comparison.right.historyToken.map({ .integer($0.number) })
      else { continue }
      switch (keys, comparison.operation, value) {
      case (["author"], .equal, .string(let author)) where comparison.options.isEmpty: query.author = author
      case (["transactionNumber"], .greater, .integer(let number)), (["token"], .greater, .integer(let number)):
        query.afterNumber = max(number, query.afterNumber ?? number)
      case (["timestamp"], .greater, .date(let date)): query.afterDate = max(date, query.afterDate ?? date)
      default: continue
      }
    }
    return query
  }

  /// The transactions that the predicate names by their tokens.
  package var historyTokens: [NamedTransaction] {
    switch self {
    case .constant: []
    case .and(let parts), .or(let parts): parts.flatMap(\.historyTokens)
    case .not(let part): part.historyTokens
    case .comparison(let comparison):
      if comparison.left.keys?.last == "token", let token = comparison.right.historyToken { [token] } else { [] }
    }
  }

  /// A transaction that a predicate names by its token.
  package struct NamedTransaction {
    package let number: Int64
    /// Nil for a number alone.
    package let token: HistoryToken?
  }
}

extension FetchExpression {
  /// The transaction that a token names; nil for other expressions.
  fileprivate var historyToken: FetchPredicate.NamedTransaction? {
    switch self {
    case .constant(.integer(let number)): .init(number: number, token: nil)
    case .element(of: .aggregate(let parts), .first):
      if parts.count == 2, case .constant(.integer(let number)) = parts[0],
        case .constant(.string(let text)) = parts[1]
      {
        .init(number: number, token: HistoryToken(text))
      } else {
        nil
      }
    default: nil
    }
  }
}
