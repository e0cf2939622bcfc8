/// The contents of an index, independent of its name and the spelling of its definition.
package struct IndexSignature: Sendable, Hashable {
  struct Column: Sendable, Hashable {
    /// Folded.
    let name: String
    let isAscending: Bool
  }

  let columns: [Column]
  let isUnique: Bool
  /// The entity numbers that a partial index is restricted to, in order; nil for all rows.
  let entityNumbers: [Int]?
  /// The tests that rows of a partial index pass.
  let conditions: Set<Condition>

  /// A test of a column that the rows of a partial index pass.
  struct Condition: Sendable, Hashable {
    /// Folded.
    let column: String
    let test: Test

    enum Test: Sendable, Hashable {
      case isNull, isNotNull
      case equals(Int64)
    }
  }

  init(columns: [Column], isUnique: Bool, entityNumbers: [Int]?, conditions: Set<Condition>) {
    self.columns = columns
    self.isUnique = isUnique
    self.entityNumbers = entityNumbers
    self.conditions = conditions
  }

  /// Whether the index contains all rows.
  package var isComplete: Bool { entityNumbers == nil && conditions.isEmpty }

  @inline(never)
  package init(_ index: IndexDefinition) {
    columns = index.columns.map { Column(name: $0.name.foldedIdentifier, isAscending: $0.isAscending ?? true) }
    isUnique = index.isUnique
    entityNumbers = index.entityNumbers?.sorted()
    conditions = Set(index.conditions.map(Condition.init))
  }

  /// Parses a definition from a store; nil for an index over expressions, with another collation or with another kind
  /// of condition.
  package init?(definition sql: String) {
    var tokens = DefinitionTokens(sql)
    guard tokens.consume("create") else { return nil }
    isUnique = tokens.consume("unique")
    guard tokens.consume("index"), tokens.skip(past: "on"), tokens.next() != nil, tokens.consume("("),
      let columns = tokens.consumeIndexColumns()
    else { return nil }
    self.columns = columns
    guard !tokens.isAtEnd else {
      (entityNumbers, conditions) = (nil, [])
      return
    }
    guard tokens.consume("where") else { return nil }
    var (entityNumbers, conditions): ([Int]?, Set<Condition>) = (nil, [])
    repeat {
      if entityNumbers == nil, let numbers = tokens.consumeEntityNumbers() {
        entityNumbers = numbers.sorted()
      } else {
        guard let condition = tokens.consumeCondition() else { return nil }
        conditions.insert(condition)
      }
    } while tokens.consume("and")
    guard tokens.isAtEnd else { return nil }
    self.entityNumbers = entityNumbers
    self.conditions = conditions
  }

  /// The same index with columns renamed.
  package func renaming(_ rename: (String) -> String) -> IndexSignature {
    IndexSignature(
      columns: columns.map { Column(name: rename($0.name).foldedIdentifier, isAscending: $0.isAscending) },
      isUnique: isUnique, entityNumbers: entityNumbers,
      conditions: Set(conditions.map { Condition(column: rename($0.column).foldedIdentifier, test: $0.test) }))
  }

  /// The columns of each `UNIQUE` constraint in a table's definition, folded.
  package static func uniqueConstraints(ofTable sql: String) -> [[String]] {
    guard SQLTokens.mayMention("unique", in: sql) else { return [] }
    var tokens = DefinitionTokens(sql)
    var constraints: [[String]] = []
    while tokens.skip(past: "unique") {
      if tokens.consume("("), let columns = tokens.consumeIndexColumns() { constraints.append(columns.map(\.name)) }
    }
    return constraints
  }
}

extension IndexSignature.Condition {
  init(_ condition: IndexDefinition.Condition) {
    column = condition.column.foldedIdentifier
    test =
      switch condition.test {
      case .isNil: .isNull
      case .isNotNil: .isNotNull
      case .integer(let number): .equals(number)
      case .boolean(let flag): .equals(flag ? 1 : 0)
      }
  }
}

extension StoreSchema.Table {
  /// The columns with a default value in the table's definition, folded.
  package var columnsWithDefault: Set<String> {
    guard SQLTokens.mayMention("default", in: sql) else { return [] }
    var tokens = DefinitionTokens(sql)
    var found: Set<String> = []
    while let token = tokens.nextOfColumn() {
      if token == "default", let column = tokens.column { found.insert(column) }
    }
    return found
  }
}

/// A position in the tokens of a definition, which are folded and without literal texts.
struct DefinitionTokens {
  private let tokens: [String]
  private var position = 0
  private var depth = 0
  /// The column that ``nextOfColumn()`` is in, or the first word of a constraint of the table.
  private(set) var column: String?

  init(_ sql: String) { tokens = SQLTokens(sql).compactMap(SQLTokens.folded) }

  var isAtEnd: Bool { position >= tokens.count }

  mutating func next() -> String? {
    guard !isAtEnd else { return nil }
    position += 1
    return tokens[position - 1]
  }

  /// Advances in the definition of a table, past what is in parentheses of its own.
  ///
  /// - Returns: The next token in a column's definition or a constraint, or the parenthesis or comma before one.
  mutating func nextOfColumn() -> String? {
    while let token = next() {
      switch token {
      case "(":
        depth += 1
        if depth == 1 { column = next() }
      case ")": depth -= 1
      case "," where depth == 1: column = next()
      default: break
      }
      if depth == 1 { return token }
    }
    return nil
  }

  mutating func consume(_ token: String) -> Bool {
    guard !isAtEnd, tokens[position] == token else { return false }
    position += 1
    return true
  }

  mutating func skip(past token: String) -> Bool {
    while let next = next() { if next == token { return true } }
    return false
  }

  /// Parses the restriction of an index to entities; nil, without advancing, if there is none.
  mutating func consumeEntityNumbers() -> [Int]? {
    let start = position
    guard consume("z_ent"), consume("in"), consume("(") else {
      position = start
      return nil
    }
    var numbers: [Int] = []
    while let token = next(), token != ")" {
      if token == "," { continue }
      guard let number = Int(token) else { return nil }
      numbers.append(number)
    }
    return numbers
  }

  /// Parses a test of a column, in the form that Persist writes; nil for any other.
  mutating func consumeCondition() -> IndexSignature.Condition? {
    guard let column = next() else { return nil }
    if consume("is") {
      let isNegated = consume("not")
      return consume("null") ? .init(column: column, test: isNegated ? .isNotNull : .isNull) : nil
    }
    guard consume("=") else { return nil }
    let sign: Int64 = consume("-") ? -1 : 1
    return next().flatMap { Int64($0) }.map { .init(column: column, test: .equals(sign * $0)) }
  }

  /// Parses plain columns up to the closing parenthesis; nil if any isn't plain.
  mutating func consumeIndexColumns() -> [IndexSignature.Column]? {
    var columns: [IndexSignature.Column] = []
    while let name = next(), name != ",", name != "(", name != ")" {
      if consume("collate") { guard consume("binary") else { return nil } }
      var isAscending = true
      if consume("desc") { isAscending = false } else { _ = consume("asc") }
      columns.append(.init(name: name, isAscending: isAscending))
      if consume(")") { return columns }
      guard consume(",") else { return nil }
    }
    return nil
  }
}
