/// The precedence of the format language's operators, from the loosest binding to the tightest.
enum FormatPrecedence: Int, Comparable {
  case or, and, not, comparison, set, bitwiseOr, bitwiseXor, bitwiseAnd, shift, additive, multiplicative, unary, power
  case primary

  var next: FormatPrecedence { FormatPrecedence(rawValue: rawValue + 1) ?? .primary }

  static func < (left: FormatPrecedence, right: FormatPrecedence) -> Bool { left.rawValue < right.rawValue }
}

/// A binary operator.
enum FormatInfix: Equatable {
  case and
  case or
  case comparison(FetchPredicate.Operator)
  /// `NOT` before `IN`, `CONTAINS` and other word operators.
  case negated
  case function(FetchFunction, FormatPrecedence)

  var precedence: FormatPrecedence {
    switch self {
    case .and: .and
    case .or: .or
    case .comparison, .negated: .comparison
    case .function(_, let precedence): precedence
    }
  }

  /// The binary operator of a token; nil for any other token.
  init?(_ token: FormatToken) {
    let found: FormatInfix? =
      switch token.kind {
      case .symbol(let symbol): Self.symbols[symbol]
      case .word(let word): Self.words[word.uppercased()]
      default: nil
      }
    guard let found else { return nil }
    self = found
  }

  /// The infix notation of functions with two arguments.
  static let notations: [FetchFunction: (symbol: String, precedence: FormatPrecedence)] = [
    .union: ("UNION", .set), .intersection: ("INTERSECT", .set), .difference: ("MINUS", .set),
    .bitwiseOr: ("|", .bitwiseOr), .bitwiseXor: ("^", .bitwiseXor), .bitwiseAnd: ("&", .bitwiseAnd),
    .shiftLeft: ("<<", .shift), .shiftRight: (">>", .shift), .add: ("+", .additive), .subtract: ("-", .additive),
    .multiply: ("*", .multiplicative), .divide: ("/", .multiplicative), .modulus: ("%%", .multiplicative),
    .power: ("**", .power),
  ]

  private static let symbols: [FormatToken.Symbol: FormatInfix] = {
    var symbols: [FormatToken.Symbol: FormatInfix] = [
      .and: .and, .or: .or, .equal: .comparison(.equal), .equalSingle: .comparison(.equal),
      .notEqual: .comparison(.notEqual), .notEqualAngles: .comparison(.notEqual), .less: .comparison(.less),
      .greater: .comparison(.greater), .lessOrEqual: .comparison(.lessOrEqual),
      .lessOrEqualReversed: .comparison(.lessOrEqual), .greaterOrEqual: .comparison(.greaterOrEqual),
      .greaterOrEqualReversed: .comparison(.greaterOrEqual),
    ]
    for (function, notation) in notations {
      guard let symbol = FormatToken.Symbol(rawValue: notation.symbol) else { continue }
      symbols[symbol] = .function(function, notation.precedence)
    }
    return symbols
  }()

  private static let words: [String: FormatInfix] = {
    var words: [String: FormatInfix] = ["AND": .and, "OR": .or, "NOT": .negated]
    for operation in FetchPredicate.Operator.allCases where operation.isWord {
      words[operation.rawValue] = .comparison(operation)
    }
    for (function, notation) in notations where FormatToken.Symbol(rawValue: notation.symbol) == nil {
      words[notation.symbol] = .function(function, notation.precedence)
    }
    return words
  }()
}

extension FetchPredicate.Operator {
  /// Whether the operator is written as a word instead of a symbol.
  var isWord: Bool { rawValue.allSatisfy(\.isLetter) }
}
