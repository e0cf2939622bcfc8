/// SQLite's dialect of shared statements.
extension SQLText {
  @inline(never)
  package init(_ sql: SharedSQL) {
    if let text = sql.fileText {
      self = SQLText(checked: text).binding(sql.values)
      return
    }
    var text = StringInterpolation(literalCapacity: 0, interpolationCount: sql.parts.count)
    text.appendInterpolation(sql)
    self.init(stringInterpolation: text)
  }

  /// Keys as a JSON array, for the statements about rows with one of many keys.
  package static func json(_ keys: some Sequence<Int64>) -> String {
    "[" + keys.map(String.init).joined(separator: ",") + "]"
  }
}

extension SQLText.StringInterpolation {
  /// A part that all engines share.
  @_disfavoredOverload @inline(never)
  package mutating func appendInterpolation(_ sql: SharedSQL) {
    var values = sql.values[...]
    for part in sql.parts {
      switch part {
      case .text(let text): appendLiteral(text)
      case .word(let word): append(checked: word.rawValue)
      case .name(let name): appendInterpolation(name: name)
      case .row(let row): appendInterpolation(row: row)
      case .number(let number): appendInterpolation(number: number)
      case .boolean(let flag): appendInterpolation(number: flag ? 1 : 0)
      case .literal(let text): appendInterpolation(literal: text)
      case .byte(let byte): appendInterpolation(bytes: CollectionOfOne(byte))
      case .value: appendInterpolation(value: values.removeFirst())
      case .keys(let keys):
        appendLiteral("IN (SELECT value FROM json_each(")
        appendInterpolation(value: .text(SQLText.json(keys)))
        appendLiteral("))")
      }
    }
  }
}
