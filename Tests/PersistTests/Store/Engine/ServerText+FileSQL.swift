#if canImport(PersistPostgreSQL)
  import Foundation

  @testable import PersistModel
  @testable import PersistPostgreSQL

  extension ServerText {
    /// Translates the text of a file's statement word by word, so that tests write SQL once for both engines.
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
    init(translating sql: SQLText) {
      var translation = Translation(sql)
      self = translation.text()
    }

    private struct Translation {
      private let tokens: [Token]
      private var values: ArraySlice<SQLValue>
      private var index = 0
      private var pieces: ServerText = ""
      private var ignoresConflicts = false

      init(_ sql: SQLText) {
        tokens = Token.all(in: sql.text)
        values = sql.values[...]
      }

      mutating func text() -> ServerText {
        while index < tokens.count { translate() }
        return ignoresConflicts ? pieces + " ON CONFLICT DO NOTHING" : pieces
      }

      /// `IN (SELECT value FROM json_each(?))`
      private static let listStart = [
        "IN", " ", "(", "SELECT", " ", "value", " ", "FROM", " ", "json_each", "(", "?", ")", ")",
      ]

      private mutating func translate() {
        let token = tokens[index]
        if token.text == "IN", isAhead(Self.listStart), let array = arrayParameter(values.popFirst()) {
          pieces += "= ANY (\(parameter: array))"
          index += Self.listStart.count
          return
        }
        index += 1
        switch token.kind {
        case .other where token.text == "?":
          guard let value = values.popFirst() else { return append("NULL") }
          pieces += Self.piece(value)
        case .other, .space: append(token.text)
        case .literal: append(token.text)
        case .bytes: append("'\\x\(token.text)'::bytea")
        case .quoted: pieces += "\(name: token.text)"
        case .word: word(token.text)
        }
      }

      private mutating func word(_ word: String) {
        switch word {
        case "main", "temp":
          guard index < tokens.count, tokens[index].text == "." else { return append(word) }
          pieces += word == "main" ? "\(schema: ())" : "pg_temp"
        case "IFNULL": append("COALESCE")
        // A column of nulls needs a type: only positions and keys are copied so.
        case "NULL" where isAhead([" ", "AS", " "]): append("NULL::bigint")
        case "BLOB": append("bytea")
        case "INTEGER": append("bigint")
        case "WITHOUT" where isAhead([" ", "ROWID"]): index += 2
        case "rowid": append("ctid")
        case "IS" where isAhead([" ", "NOT", " ", "1"]):
          index += 4
          append("IS NOT TRUE")
        case "IS" where isAhead([" ", "NOT", " "]) && !isAhead([" ", "NOT", " ", "NULL"]):
          index += 2
          append("IS DISTINCT FROM")
        case "CROSS" where isAhead([" ", "JOIN"]): index += 1
        case "OR" where isAhead([" ", "IGNORE", " "]):
          index += 3
          ignoresConflicts = true
        // Functions of the schema.
        case let word where word.hasPrefix("Persist"): pieces += "\(name: word.uppercasedIdentifier)"
        default:
          // Names without quotes begin with a Z, which no word of SQL does.
          if word.first == "Z" || word.hasPrefix("PERSIST_") { pieces += "\(name: word)" } else { append(word) }
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

      private mutating func append(_ text: String) { pieces += ServerText(stored: StoredDefinition(sql: text)) }

      private static func piece(_ value: SQLValue) -> ServerText {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(integer: number)"
        case .double(let number): "\(double: number)"
        case .text(let text): "\(text: text)"
        case .blob(let data): "\(data: data)"
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
#endif
