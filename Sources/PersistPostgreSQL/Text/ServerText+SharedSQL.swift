import Persist

/// PostgreSQL's dialect of shared statements.
extension ServerText {
  init(_ sql: SharedSQL) {
    var text = StringInterpolation(literalCapacity: 0, interpolationCount: sql.parts.count)
    var skipsConflicts = false
    var values = sql.values[...]
    for part in sql.parts {
      switch part {
      case .text(let literal): text.appendLiteral(literal)
      case .word(let word):
        if word == .insertNew { skipsConflicts = true }
        text.append(word)
      case .name(let name): text.appendInterpolation(name: name)
      case .row(let row): text.appendInterpolation(row: row)
      case .number(let number): text.appendInterpolation(number: number)
      case .boolean(let flag): text.appendLiteral(flag ? "true" : "false")
      case .literal(let literal): text.appendInterpolation(literal: literal)
      case .byte(let byte): text.appendInterpolation(byte: byte)
      case .value: text.append(values.removeFirst())
      case .keys(let keys):
        text.appendLiteral("= ANY (")
        text.appendInterpolation(integers: keys)
        text.appendLiteral(")")
      }
    }
    if skipsConflicts { text.appendLiteral(" ON CONFLICT DO NOTHING") }
    self.init(stringInterpolation: text)
  }
}

extension ServerText.StringInterpolation {
  fileprivate mutating func append(_ value: SQLValue) {
    switch value {
    case .null: appendLiteral("NULL")
    case .integer(let number): appendInterpolation(integer: number)
    case .double(let number): appendInterpolation(double: number)
    case .text(let text): appendInterpolation(text: text)
    case .blob(let data): appendInterpolation(data: data)
    }
  }

  fileprivate mutating func append(_ word: SharedSQL.Word) {
    switch word {
    case .key, .entity, .version, .entities, .greatestKey, .transactionID, .changedEntity, .changedKey, .changedColumns,
      .changeType, .time, .historyText:
      appendInterpolation(name: word.rawValue)
    case .store: appendInterpolation(schema: ())
    case .temporary: appendLiteral("pg_temp")
    case .importedRows: appendLiteral("pg_temp.persist_imported")
    case .importedMembers: appendLiteral("pg_temp.persist_members")
    case .integer: appendLiteral("bigint")
    case .bytes: appendLiteral("bytea")
    case .now: appendLiteral("(EXTRACT(EPOCH FROM clock_timestamp())::float8 - 978307200.0)")
    case .ifNull: appendLiteral("COALESCE")
    case .uppercase, .lowercase, .canonical: appendInterpolation(name: word.rawValue.uppercasedIdentifier)
    case .isNot: appendLiteral("IS DISTINCT FROM")
    // A column of nulls needs a type.
    case .nullKey: appendLiteral("NULL::bigint")
    // Conflicts are skipped by a clause at the end.
    case .insertNew: appendLiteral("INSERT INTO")
    case .crossJoin: appendLiteral("JOIN")
    case .withoutRowID: break
    case .rowID: appendLiteral("ctid")
    }
  }
}
