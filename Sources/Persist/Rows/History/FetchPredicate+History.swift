extension FetchPredicate {
  /// The conditions that a store can use to read fewer transactions: every transaction that matches the predicate
  /// matches them too.
  var historyQuery: HistoryQuery {
    var query = HistoryQuery()
    let parts: [FetchPredicate] = if case .and(let parts) = self { parts } else { [self] }
    for case .comparison(let comparison) in parts where comparison.modifier == .direct {
      guard let keys = comparison.left.keys, let value = comparison.right.constantValue else { continue }
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
  var historyTokens: [Int64] {
    switch self {
    case .constant: []
    case .and(let parts), .or(let parts): parts.flatMap(\.historyTokens)
    case .not(let part): part.historyTokens
    case .comparison(let comparison):
      if comparison.left.keys?.last == "token", case .integer(let number)? = comparison.right.constantValue {
        [number]
      } else {
        []
      }
    }
  }
}
