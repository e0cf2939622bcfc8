/// A column that SQLite computes from other columns of its row. SQLite's list of a table's columns omits it.
///
/// - SeeAlso: <https://sqlite.org/gencol.html>
package struct GeneratedColumn: Sendable, Equatable {
  package let name: String
  /// The words of the expression, folded: among them the names of the columns that it reads.
  package fileprivate(set) var words: Set<String> = []
}

extension StoreSchema.Table {
  /// The generated columns in the table's definition.
  package var generatedColumns: [GeneratedColumn] {
    guard SQLTokens.mayMention("as", in: sql) else { return [] }
    var found: [GeneratedColumn] = []
    var column: Substring = ""
    var depth = 0
    var isFirstWord = false
    var isGenerated = false
    for token in SQLTokens(sql) {
      if isFirstWord, depth == 1 {
        (column, isFirstWord, isGenerated) = (token, false, false)
        continue
      }
      switch token {
      case "(":
        depth += 1
        isFirstWord = depth == 1
      case ")": depth -= 1
      case "," where depth == 1: isFirstWord = true
      case _ where depth == 1 && token.lowercased() == "as":
        isGenerated = true
        found.append(GeneratedColumn(name: SQLTokens.unquoted(column)))
      case _ where depth > 1 && isGenerated:
        if let word = SQLTokens.folded(token) { found[found.count - 1].words.insert(word) }
      default: break
      }
    }
    return found
  }
}
