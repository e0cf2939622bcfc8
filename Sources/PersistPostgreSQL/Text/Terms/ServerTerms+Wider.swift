import Persist

/// Conditions that let too many rows through, which are then evaluated in memory.
///
/// The server can't compare texts with the options `[c]` and `[d]`, or match patterns, exactly as Persist does. For
/// texts of ASCII characters it can, and these are most of the texts that a condition excludes. A wider condition lets
/// all other texts through.
extension ServerTerms {
  /// A condition that is met by all rows that meet the term; nil if there is none that excludes rows.
  func wider(_ term: SQLTerm) -> ServerText? {
    if let exact = condition(term) { return exact }
    switch term {
    case .all(let parts):
      let conditions = parts.compactMap { wider($0) }
      return conditions.isEmpty ? nil : "(\(conditions.joined(separator: " AND ")))"
    case .any(let parts):
      let conditions = parts.compactMap { wider($0) }
      return conditions.count < parts.count ? nil : "(\(conditions.joined(separator: " OR ")))"
    case .exists(let scan):
      let inner = adding(scan)
      let tables = scan.tables.map { table -> ServerText in "\(table: table.name) AS \(row: table.row)" }
      let conditions = scan.tables.compactMap { $0.condition.flatMap { inner.wider($0) } }
        + [scan.condition.flatMap { inner.wider($0) }].compactMap { $0 }
      guard !conditions.isEmpty else { return nil }
      return """
        EXISTS (SELECT 1 FROM \(tables.joined(separator: ", ")) WHERE \(conditions.joined(separator: " AND ")))
        """
    default:
      var assuming = self
      assuming.assumesASCII = true
      let texts = term.textsOfFunctions.compactMap { value($0) }
      guard !texts.isEmpty, let condition = assuming.condition(term) else { return nil }
      let others = texts.map { text -> ServerText in
        // A carriage return and a line feed are one character of a pattern.
        "octet_length(\(text.text)) <> char_length(\(text.text)) OR strpos(\(text.text), chr(13)) > 0 OR "
      }
      return "(\(others.joined(separator: ""))\(condition))"
    }
  }

  /// A pattern of wildcards, for a text of ASCII characters.
  func isLike(_ parts: [SQLTerm]) -> ServerText? {
    guard assumesASCII, parts.count == 3, let options = parts[1].options, case .value(.text(let pattern)) = parts[2],
      let text = folded(parts[0], options),
      let sql = value(.value(.text(WildcardPattern(pattern, options: options).sqlPattern)))
    else { return nil }
    return "(\(text.text) LIKE \(sql.text))"
  }

  /// A function of a text of ASCII characters.
  func ofASCII(_ function: SQLFunction, _ part: SQLTerm) -> Value? {
    guard let text = value(part), text.kind == .text else { return nil }
    switch function {
    case .uppercase: return ("upper(\(text.text) COLLATE \"C\")", .text)
    case .lowercase, .canonical: return ("lower(\(text.text) COLLATE \"C\")", .text)
    case .length: return ("char_length(\(text.text))::bigint", .integer)
    default: return nil
    }
  }
}

extension SQLTerm {
  /// The texts whose functions the server has only for ASCII characters, outside of other rows' scopes.
  fileprivate var textsOfFunctions: [SQLTerm] {
    switch self {
    case .call(.fold, let parts), .call(.endsWith, let parts), .call(.like, let parts):
      Array(parts.prefix(1)) + (parts.first?.textsOfFunctions ?? [])
    case .call(.uppercase, let parts), .call(.lowercase, let parts), .call(.canonical, let parts),
      .call(.length, let parts):
      parts + parts.flatMap(\.textsOfFunctions)
    case .call(_, let parts), .all(let parts), .any(let parts): parts.flatMap(\.textsOfFunctions)
    case .binary(_, let left, let right): left.textsOfFunctions + right.textsOfFunctions
    case .isNull(let part), .isPresent(let part), .not(let part), .text(let part), .isOne(let part, _),
      .isMember(let part, _), .isSelected(let part, _, _):
      part.textsOfFunctions
    case .between(let part, let lower, let upper): [part, lower, upper].flatMap(\.textsOfFunctions)
    case .choice(let test, let first, let second): [test, first, second].flatMap(\.textsOfFunctions)
    default: []
    }
  }

  /// The options of a comparison of texts, as functions have them.
  var options: FetchPredicate.Options? {
    guard case .value(.integer(let bits)) = self else { return nil }
    return Int(exactly: bits).map { FetchPredicate.Options(rawValue: $0) }
  }
}
