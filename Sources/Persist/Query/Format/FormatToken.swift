/// A token of a format string.
struct FormatToken: Sendable, Equatable {
  enum Kind: Sendable, Hashable {
    /// A key or a keyword, distinguished by the parser from its context.
    case word(String)
    /// A key that is marked with `#`: `#in`, `#"any text"`.
    case key(String)
    /// `@count` and similar operators.
    case collectionOperator(String)
    /// `$name`.
    case variable(String)
    /// A function's name with colons, `add:to:`.
    case functionName(String)
    case string(String)
    case number(StoredValue)
    /// `%@`, `%K`, `%d`, …: the conversion letter and, for `%2$@`, the number of the argument.
    case placeholder(Character, argument: Int?)
    /// Operators and brackets.
    case symbol(Symbol)
    case end
  }

  enum Symbol: String, Sendable, Hashable, CaseIterable {
    case leftParenthesis = "("
    case rightParenthesis = ")"
    case leftBracket = "["
    case rightBracket = "]"
    case leftBrace = "{"
    case rightBrace = "}"
    case comma = ","
    case dot = "."
    case equal = "=="
    case equalSingle = "="
    case notEqual = "!="
    case notEqualAngles = "<>"
    case lessOrEqual = "<="
    case lessOrEqualReversed = "=<"
    case greaterOrEqual = ">="
    case greaterOrEqualReversed = "=>"
    case less = "<"
    case greater = ">"
    case and = "&&"
    case or = "||"
    case not = "!"
    case bitwiseAnd = "&"
    case bitwiseOr = "|"
    case bitwiseXor = "^"
    case bitwiseNot = "~"
    case shiftLeft = "<<"
    case shiftRight = ">>"
    case plus = "+"
    case minus = "-"
    case times = "*"
    case power = "**"
    case divide = "/"
    case modulus = "%%"
    case assign = ":="
  }

  let kind: Kind
  /// The position of its first scalar, in Unicode scalars from 0.
  let offset: Int

  /// The description of the token in error messages.
  var description: String {
    switch kind {
    case .word(let text), .functionName(let text), .collectionOperator(let text): "'\(text)'"
    case .key(let text): "'#\(text)'"
    case .variable(let name): "'$\(name)'"
    case .string: "a text"
    case .number: "a number"
    case .placeholder(let letter, _): "'%\(letter)'"
    case .symbol(let symbol): "'\(symbol.rawValue)'"
    case .end: "the end"
    }
  }
}
