import Foundation
import Persist

/// Statements that SQLite and PostgreSQL share, except for a few words: those of migrations and of imports.
extension ServerText {
  /// Translates a statement word by word.
  ///
  /// | SQLite | PostgreSQL |
  /// |---|---|
  /// | `Z_PK`, `"NAME"` | `"id"`, `"name"` |
  /// | `main.`, `temp.` | the store's schema, `pg_temp.` |
  /// | `?` with its value | `$1` with its type |
  /// | `IN (SELECT value FROM json_each(?))` | `= ANY($1)` with an array |
  /// | `x'01'` | `'\x01'::bytea` |
  /// | `IFNULL`, `BLOB`, `INTEGER`, `rowid` | `COALESCE`, `bytea`, `bigint`, `ctid` |
  /// | `INSERT OR IGNORE` | `INSERT … ON CONFLICT DO NOTHING` |
  /// | `a IS NOT b`, `CROSS JOIN … ON` | `a IS DISTINCT FROM b`, `JOIN … ON` |
  init(_ sql: SQLText) {
    var translation = Translation(sql)
    self = translation.text()
  }

  private struct Translation {
    private let tokens: [Token]
    private var values: ArraySlice<SQLValue>
    private var index = 0
    private var pieces: [Piece] = []
    private var ignoresConflicts = false

    init(_ sql: SQLText) {
      tokens = Token.all(in: sql.text)
      values = sql.values[...]
    }

    mutating func text() -> ServerText {
      while index < tokens.count { translate() }
      if ignoresConflicts { pieces.append(.text(" ON CONFLICT DO NOTHING")) }
      return ServerText(translated: pieces)
    }

    /// `IN (SELECT value FROM json_each(?))`
    private static let listStart = [
      "IN", " ", "(", "SELECT", " ", "value", " ", "FROM", " ", "json_each", "(", "?", ")", ")",
    ]

    private mutating func translate() {
      let token = tokens[index]
      if token.text == "IN", isAhead(Self.listStart), let array = arrayParameter(values.popFirst()) {
        pieces += [.text("= ANY("), .parameter(array), .text(")")]
        index += Self.listStart.count
        return
      }
      index += 1
      switch token.kind {
      case .other where token.text == "?":
        guard let value = values.popFirst() else { return pieces.append(.text("NULL")) }
        pieces.append(Self.piece(value))
      case .other, .space: pieces.append(.text(token.text))
      case .literal: pieces.append(.text(token.text))
      case .bytes: pieces.append(.text("'\\x\(token.text)'::bytea"))
      case .quoted: pieces.append(.name(token.text))
      case .word: word(token.text)
      }
    }

    private mutating func word(_ word: String) {
      switch word {
      case "main", "temp":
        guard index < tokens.count, tokens[index].text == "." else { return pieces.append(.text(word)) }
        pieces.append(word == "main" ? .schema : .text("pg_temp"))
      case "IFNULL": pieces.append(.text("COALESCE"))
      // A column of nulls needs a type: only positions and keys are copied so.
      case "NULL" where isAhead([" ", "AS", " "]): pieces.append(.text("NULL::bigint"))
      case "BLOB": pieces.append(.text("bytea"))
      case "INTEGER": pieces.append(.text("bigint"))
      case "WITHOUT" where isAhead([" ", "ROWID"]): index += 2
      case "rowid": pieces.append(.text("ctid"))
      case "IS" where isAhead([" ", "NOT", " ", "1"]):
        index += 4
        pieces.append(.text("IS NOT TRUE"))
      case "IS" where isAhead([" ", "NOT", " "]) && !isAhead([" ", "NOT", " ", "NULL"]):
        index += 2
        pieces.append(.text("IS DISTINCT FROM"))
      case "CROSS" where isAhead([" ", "JOIN"]): index += 1
      case "OR" where isAhead([" ", "IGNORE", " "]):
        index += 3
        ignoresConflicts = true
      // Functions of the schema.
      case let word where word.hasPrefix("Persist"): pieces.append(.name(word.uppercasedIdentifier))
      default:
        // Names without quotes begin with a Z, which no word of SQL does.
        pieces.append(word.first == "Z" || word.hasPrefix("PERSIST_") ? .name(word) : .text(word))
      }
    }

    private func isAhead(_ texts: [String]) -> Bool {
      guard index + texts.count <= tokens.count else { return false }
      return zip(tokens[index...], texts).allSatisfy { $0.text == $1 }
    }

    /// A list in JSON as an array.
    private func arrayParameter(_ value: SQLValue?) -> ServerParameter? {
      guard case .text(let json)? = value else { return nil }
      if let numbers = try? JSONDecoder().decode([Int64].self, from: Data(json.utf8)) { return .integers(numbers) }
      guard let texts = try? JSONDecoder().decode([String].self, from: Data(json.utf8)) else { return nil }
      var array = ArrayParameter(.texts, of: .text, count: texts.count)
      for text in texts { array.append(text) }
      return array.parameter
    }

    private static func piece(_ value: SQLValue) -> Piece {
      switch value {
      case .null: .text("NULL")
      case .integer(let number): .parameter(.integer(number))
      case .double(let number): .parameter(.double(number))
      case .text(let text): .parameter(.text(text))
      case .blob(let data): .parameter(.bytes(data))
      }
    }
  }

  /// A word, a name, a literal, a run of spaces or a single other character.
  private struct Token {
    enum Kind { case word, quoted, literal, bytes, space, other }

    let kind: Kind
    /// A name without its quotes; the digits of a literal of bytes.
    let text: String

    static func all(in sql: String) -> [Token] {
      var tokens: [Token] = []
      // A quotation mark before a combining mark is another `Character`.
      var rest = sql.unicodeScalars[...]
      while let first = rest.first {
        if first == "'" || first == "\"" {
          let content = quoted(&rest, by: first)
          if first == "\"" {
            tokens.append(Token(kind: .quoted, text: content))
          } else if tokens.last?.text == "x" {
            tokens[tokens.count - 1] = Token(kind: .bytes, text: content)
          } else {
            tokens.append(Token(kind: .literal, text: "'" + content.doubling("'") + "'"))
          }
          continue
        }
        let word = rest.prefix { $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_" }
        if !word.isEmpty {
          tokens.append(Token(kind: .word, text: String(word)))
          rest = rest.dropFirst(word.count)
        } else {
          tokens.append(Token(kind: first == " " ? .space : .other, text: String(first)))
          rest = rest.dropFirst()
        }
      }
      return tokens
    }

    /// The content between quotes.
    private static func quoted(_ rest: inout Substring.UnicodeScalarView, by quote: Unicode.Scalar) -> String {
      var content = String.UnicodeScalarView()
      rest = rest.dropFirst()
      while let end = rest.firstIndex(of: quote) {
        content += rest[..<end]
        rest = rest[rest.index(after: end)...]
        guard rest.first == quote else { return String(content) }
        content.append(quote)
        rest = rest.dropFirst()
      }
      return String(content + rest)
    }
  }
}
