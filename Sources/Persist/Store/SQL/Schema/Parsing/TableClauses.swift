/// The clauses between the parentheses of a table's definition: its columns and constraints.
package struct TableClauses {
  /// A foreign key of a table.
  package struct ForeignKey: Sendable, Equatable {
    package let columns: [String]
    package let parent: String
    /// Empty for the parent's primary key.
    package let parentColumns: [String]
  }

  /// A word, or everything between two parentheses.
  fileprivate enum Part {
    case word(Substring)
    case group(Substring)

    /// A keyword or a name, folded.
    var word: String? { if case .word(let word) = self { SQLTokens.folded(word) } else { nil } }
    var group: Substring? { if case .group(let group) = self { group } else { nil } }
  }

  private let clauses: [[Part]]

  /// - Parameter sql: The definition of a table.
  package init(_ sql: String) {
    guard let open = Self.parts(of: sql[...]).first(where: { $0.group != nil })?.group else {
      clauses = []
      return
    }
    clauses = Self.parts(of: open).split { if case .word(",") = $0 { true } else { false } }.map(Array.init)
  }

  /// The expressions of all `CHECK` constraints.
  var checks: [String] { groups(after: "check") }

  package var foreignKeys: [ForeignKey] {
    clauses.flatMap { clause -> [ForeignKey] in
      clause.indices.compactMap { index in
        guard clause[index].word == "references", index + 1 < clause.count, case .word(let parent) = clause[index + 1]
        else { return nil }
        let declared = clause[..<index].contains { $0.word == "foreign" } ? clause[..<index].last?.group : nil
        let columns = declared.map(Self.names) ?? Self.name(of: clause).map { [$0] } ?? []
        let parentColumns = index + 2 < clause.count ? clause[index + 2].group.map(Self.names) ?? [] : []
        return ForeignKey(columns: columns, parent: SQLTokens.unquoted(parent), parentColumns: parentColumns)
      }
    }
  }

  /// Whether a constraint or a generated column of the table depends on a column.
  package func restricts(_ column: String) -> Bool {
    let name = column.foldedIdentifier
    return clauses.contains { clause in
      guard Self.name(of: clause)?.foldedIdentifier == name else {
        return clause.contains { $0.group.map { SQLTokens.mentions(column, in: String($0)) } ?? false }
      }
      return clause.dropFirst().contains { ["primary", "unique", "check"].contains($0.word) }
    }
  }

  /// Whether a column is declared `NOT NULL`.
  package func isRequired(_ column: String) -> Bool {
    clauses.contains { clause in
      Self.name(of: clause)?.foldedIdentifier == column.foldedIdentifier && clause.contains { $0.word == "not" }
    }
  }

  private func groups(after keyword: String) -> [String] {
    clauses.flatMap { clause in
      zip(clause, clause.dropFirst()).compactMap { $0.word == keyword ? $1.group.map(String.init) : nil }
    }
  }

  private static let constraintWords: Set = ["constraint", "primary", "unique", "check", "foreign"]

  /// The name of the column that a clause declares; nil for a constraint of the table.
  private static func name(of clause: [Part]) -> String? {
    guard case .word(let word)? = clause.first else { return nil }
    return constraintWords.contains(word.lowercased()) ? nil : SQLTokens.unquoted(word)
  }

  private static func names(_ group: Substring) -> [String] {
    parts(of: group).split { if case .word(",") = $0 { true } else { false } }.compactMap { part in
      if case .word(let word)? = part.first { SQLTokens.unquoted(word) } else { nil }
    }
  }

  fileprivate static func parts(of sql: Substring) -> [Part] {
    var parts: [Part] = []
    var depth = 0
    var start = sql.startIndex
    for token in SQLTokens(String(sql)) {
      switch token {
      case "(":
        if depth == 0 { start = token.endIndex }
        depth += 1
      case ")":
        depth -= 1
        if depth == 0 { parts.append(.group(token.base[start..<token.startIndex])) }
      default: if depth == 0 { parts.append(.word(token)) }
      }
    }
    return parts
  }
}

/// A rule of a table that can reject a row for its entity number.
package enum EntityNumberRule: Sendable, Equatable {
  case check(String)
  /// A unique index over expressions or over some of the rows.
  case unique(terms: [String], condition: String?)

  /// The rule of an index; nil for an index that can't reject a row because entity numbers exchange their meaning: one
  /// that isn't unique, or over plain columns of all rows.
  init?(index sql: String) {
    let parts = TableClauses.parts(of: sql[...])
    guard parts.count > 2, parts[1].word == "unique", let list = parts.lazy.compactMap(\.group).first
    else { return nil }
    var condition: String?
    if let place = parts.firstIndex(where: { $0.word == "where" }), case .word(let word) = parts[place] {
      condition = String(word.base[word.endIndex...])
    }
    let terms = TableClauses.terms(of: list)
    guard condition != nil || terms.contains(where: { SQLTokens($0).dropFirst().contains("(") }) else { return nil }
    self = .unique(terms: terms, condition: condition)
  }

  func mentions(_ column: String) -> Bool {
    switch self {
    case .check(let expression): SQLTokens.mentions(column, in: expression)
    case .unique(let terms, let condition):
      (terms + [condition].compactMap { $0 }).contains { SQLTokens.mentions(column, in: $0) }
    }
  }
}

extension TableClauses {
  /// The terms of an index's list, without their orders.
  fileprivate static func terms(of list: Substring) -> [String] {
    var terms: [String] = []
    let text = String(list)
    var (depth, start, end) = (0, text.startIndex, text.startIndex)
    for token in SQLTokens(text) {
      switch token {
      case "(": depth += 1
      case ")": depth -= 1
      case "," where depth == 0:
        terms.append(String(text[start..<end]))
        start = token.endIndex
      default: break
      }
      if depth > 0 || !["asc", "desc", ","].contains(token.lowercased()) { end = token.endIndex }
    }
    return terms + [String(text[start..<end])]
  }
}
