import Foundation
import Persist

/// Writes conditions and values in PostgreSQL's SQL, as far as they mean exactly what the evaluator means.
///
/// PostgreSQL has three-valued logic, truth values that aren't numbers, arithmetic that ends the transaction where
/// SQLite's yields null, and no functions of Persist's. Terms that would need any of these are left to evaluation in
/// memory: each function returns nil for them.
struct ServerTerms {
  private var columns: [String: [String: Kind]]
  /// The tables of the rows in scope.
  private var tables: [SQLRow: String]
  /// Whether all texts that functions are applied to contain only ASCII characters, for which the server has functions
  /// that give Persist's results.
  var assumesASCII = false

  /// - Parameter table: The table of ``SQLText/RowSelection/root``.
  init(_ columns: [String: [String: Kind]], table: String) {
    self.init(columns, tables: [SQLText.RowSelection.root: table])
  }

  init(_ columns: [String: [String: Kind]], tables: [SQLRow: String]) {
    (self.columns, self.tables) = (columns, tables)
  }

  /// These terms with another column of the root's rows.
  func adding(_ column: SQLTerm, _ kind: Kind) -> ServerTerms {
    guard case .column(let name, let row) = column, let table = tables[row] else { return self }
    var terms = self
    terms.columns[table, default: [:]][name] = kind
    return terms
  }

  // MARK: Conditions

  func condition(_ term: SQLTerm) -> ServerText? {
    switch term {
    case .always: return "TRUE"
    case .never: return "FALSE"
    case .binary(let operation, let left, let right): return comparison(operation, of: left, with: right)
    case .isNull(let part): return value(part).map { "(\($0.text) IS NULL)" }
    case .isPresent(let part): return value(part).map { "(\($0.text) IS NOT NULL)" }
    case .not(let part): return condition(part).map { "((\($0)) IS NOT TRUE)" }
    case .all(let parts): return conditions(parts, joinedBy: " AND ", ofNone: "TRUE")
    case .any(let parts): return conditions(parts, joinedBy: " OR ", ofNone: "FALSE")
    case .between(let part, let lower, let upper):
      guard let least = comparison(.greaterOrEqual, of: part, with: lower),
        let greatest = comparison(.lessOrEqual, of: part, with: upper)
      else { return nil }
      return "(\(least) AND \(greatest))"
    case .isOne(let part, let values): return isOne(part, of: values)
    case .isMember(let part, let json): return isMember(part, of: json)
    case .isSelected(let part, let selected, let scan):
      guard let part = value(part), let (selected, rows) = selection(selected, of: scan),
        let (part, selected) = ofOneKind(part, selected)
      else { return nil }
      return "(\(part.text) IN (SELECT \(selected.text) FROM \(rows)))"
    case .call(.ifNull, let parts) where parts.count == 2 && parts[1] == .always:
      return condition(parts[0]).map { "COALESCE(\($0), TRUE)" }
    case .call(.endsWith, let parts): return hasSuffix(parts)
    case .call(.like, let parts): return isLike(parts)
    case .exists(let scan): return self.scan(scan).map { "EXISTS (SELECT 1 FROM \($0))" }
    case .choice(let test, let first, let second):
      guard let test = condition(test), let first = condition(first), let second = condition(second) else { return nil }
      return "(CASE WHEN \(test) THEN \(first) ELSE \(second) END)"
    default: return nil
    }
  }

  private func conditions(_ parts: [SQLTerm], joinedBy word: ServerText, ofNone none: ServerText) -> ServerText? {
    var texts: [ServerText] = []
    for part in parts {
      guard let text = condition(part) else { return nil }
      texts.append(text)
    }
    return texts.isEmpty ? none : "(\(texts.joined(separator: word)))"
  }

  private func comparison(_ operation: SQLTerm.Operator, of left: SQLTerm, with right: SQLTerm) -> ServerText? {
    if case .call(.decimalOrder, let parts) = left, parts.count == 2, right == .value(.integer(0)) {
      guard let sign = operation.sign, let first = decimal(parts[0]), let second = decimal(parts[1]) else { return nil }
      return "(\(first)\(sign)\(second))"
    }
    if case .call(.position, let parts) = left { return position(of: parts, operation: operation, bound: right) }
    if let moments = moments(operation, of: left, with: right) ?? moments(operation.turned, of: right, with: left) {
      return moments
    }
    if case .value(let constant) = right { return value(left).flatMap { compare($0, operation, constant) } }
    if case .value(let constant) = left { return value(right).flatMap { compare($0, operation.turned, constant) } }
    guard let sign = operation.sign, let left = value(left), let right = value(right),
      let (left, right) = ofOneKind(left, right)
    else { return nil }
    return "(\(left.text)\(sign)\(right.text))"
  }

  /// Compares a column of moments with a constant that is one, so that indexes serve; nil for other terms.
  private func moments(_ operation: SQLTerm.Operator, of left: SQLTerm, with right: SQLTerm) -> ServerText? {
    guard case .column(let name, let row) = left, let table = tables[row], columns[table]?[name] == .moment,
      case .value(.double(let seconds)) = right, let sign = operation.sign
    else { return nil }
    let date = Date(timeIntervalSinceReferenceDate: seconds)
    guard date.roundedToMicroseconds == date, let moment = Moment(date) else { return nil }
    let bytes = withUnsafeBytes(of: moment.microseconds.bigEndian) { Array($0) }
    return "(\(row: row).\(name: name)\(sign)\(parameter: ServerParameter(type: .moment, bytes: bytes)))"
  }

  /// Compares with a constant as a value of the other side's type, so that indexes serve and no digit is lost.
  private func compare(_ value: Value, _ operation: SQLTerm.Operator, _ constant: SQLValue) -> ServerText? {
    guard let sign = operation.sign else { return nil }
    if value.kind == .integer, case .double(let number) = constant {
      return compare(value.text, operation, withFraction: number)
    }
    if let constant = self.constant(constant, as: value.kind) { return "(\(value.text)\(sign)\(constant))" }
    // A Boolean column is compared with other numbers as a number.
    return value.kind == .boolean ? compare(number(value), operation, constant) : nil
  }

  /// Compares integers with a number that may have a fraction.
  private func compare(
    _ text: ServerText, _ operation: SQLTerm.Operator, withFraction number: Double
  ) -> ServerText? {
    if let whole = Int64(exactly: number) { return operation.sign.map { "(\(text)\($0)\(integer: whole))" } }
    // For a number beyond 64 bits, only the sign matters.
    let floor = Int64(exactly: number.rounded(.down))
    let (all, none): (ServerText, ServerText) = ("(\(text) IS NOT NULL)", "FALSE")
    return switch operation {
    case .equal, .same: "FALSE"
    case .different: "TRUE"
    case .less, .lessOrEqual: floor.map { "(\(text) <= \(integer: $0))" } ?? (number > 0 ? all : none)
    case .greater, .greaterOrEqual: floor.map { "(\(text) > \(integer: $0))" } ?? (number > 0 ? none : all)
    default: nil
    }
  }

  private func isOne(_ part: SQLTerm, of values: [SQLValue]) -> ServerText? {
    guard let value = value(part).map(number) else { return nil }
    switch value.kind {
    case .integer, .int32, .int16, .boolean:
      var numbers: [Int64] = []
      for constant in values {
        switch constant {
        case .integer(let number): numbers.append(number)
        // No integer equals a number with a fraction.
        case .double(let number): if let whole = Int64(exactly: number) { numbers.append(whole) }
        default: return nil
        }
      }
      return "(\(value.text) = ANY(\(integers: numbers)))"
    case .text:
      var array = ArrayParameter(.texts, of: .text, count: values.count)
      for constant in values {
        guard case .text(let text) = constant, !text.utf8.contains(0) else { return nil }
        array.append(text)
      }
      return "(\(value.text) = ANY(\(parameter: array.parameter)))"
    case .double, .bytes, .decimal, .uuid, .moment:
      let constants = values.compactMap { self.constant($0, as: value.kind) }
      guard constants.count == values.count else { return nil }
      return "(\(value.text) IN (\(constants.joined(separator: ", "))))"
    }
  }

  private func isMember(_ part: SQLTerm, of json: String) -> ServerText? {
    let data = Data(json.utf8)
    if let numbers = try? JSONDecoder().decode([Int64].self, from: data) {
      return isOne(part, of: numbers.map(SQLValue.integer))
    }
    guard let texts = try? JSONDecoder().decode([String].self, from: data) else { return nil }
    return isOne(part, of: texts.map(SQLValue.text))
  }

  /// Whether a text contains another one.
  private func position(of parts: [SQLTerm], operation: SQLTerm.Operator, bound: SQLTerm) -> ServerText? {
    guard parts.count == 2, let whole = value(parts[0]), whole.kind == .text, let part = value(parts[1]),
      part.kind == .text
    else { return nil }
    switch (operation, bound) {
    case (.greater, .value(.integer(0))): return "(strpos(\(whole.text), \(part.text)) > 0)"
    case (.equal, .value(.integer(1))): return "starts_with(\(whole.text), \(part.text))"
    default: return nil
    }
  }

  private func hasSuffix(_ parts: [SQLTerm]) -> ServerText? {
    guard parts.count == 3, let options = parts[1].options, case .value(.text(let part)) = parts[2],
      let whole = folded(parts[0], options), let end = value(.value(.text(TextComparison(options).folded(part))))
    else { return nil }
    return "(right(\(whole.text), char_length(\(end.text))) = \(end.text))"
  }

  // MARK: Values

  typealias Value = (text: ServerText, kind: Kind)

  func value(_ term: SQLTerm) -> Value? {
    switch term {
    case .column(let name, let row):
      guard let table = tables[row], let kind = columns[table]?[name] else { return nil }
      return (kind.term("\(row: row).\(name: name)"), kind.ofTerms)
    case .value(.integer(let number)): return ("\(integer: number)", .integer)
    case .value(.double(let number)): return ("\(double: number)", .double)
    case .value(.text(let text)): return text.utf8.contains(0) ? nil : ("\(text: text)", .text)
    case .value(.blob(let data)): return ("\(data: data)", .bytes)
    case .call(.fold, let parts): return parts.count == 2 ? parts[1].options.flatMap { folded(parts[0], $0) } : nil
    case .call(let function, let parts) where assumesASCII && parts.count == 1: return ofASCII(function, parts[0])
    case .text(let part):
      return value(part).map(number).flatMap { $0.kind == .integer ? ("\($0.text)::text", .text) : nil }
    case .call(.nullIf, let parts):
      guard parts.count == 2, let first = value(parts[0]), let second = value(parts[1]),
        let (first, second) = ofOneKind(first, second)
      else { return nil }
      return ("NULLIF(\(first.text), \(second.text))", first.kind)
    case .choice(let test, let first, let second):
      guard let test = condition(test), let first = value(first), let second = value(second),
        let (first, second) = ofOneKind(first, second)
      else { return nil }
      return ("(CASE WHEN \(test) THEN \(first.text) ELSE \(second.text) END)", first.kind)
    case .only(let selected, let scan):
      return selection(selected, of: scan).map { ("(SELECT \($0.value.text) FROM \($0.rows))", $0.value.kind) }
    case .count(let scan): return self.scan(scan).map { ("(SELECT count(*) FROM \($0))", .integer) }
    case .least(let selected, let scan): return extremum("min", of: selected, in: scan)
    case .greatest(let selected, let scan): return extremum("max", of: selected, in: scan)
    case .sum(let selected, let scan):
      guard let (selected, rows) = selection(selected, of: scan), number(selected).kind == .integer else { return nil }
      return ("(SELECT coalesce(sum(\(number(selected).text)), 0)::bigint FROM \(rows))", .integer)
    default: return nil
    }
  }

  private func extremum(_ function: ServerText, of selected: SQLTerm, in scan: SQLScan) -> Value? {
    guard let (value, rows) = selection(selected, of: scan), value.kind.hasExtremes else { return nil }
    let selected = number(value)
    return ("(SELECT \(function)(\(selected.text)) FROM \(rows))", selected.kind)
  }

  /// A truth value as the number 1 or 0; other values unchanged.
  func number(_ value: Value) -> Value { value.kind == .boolean ? ("\(value.text)::int", .integer) : value }

  /// Two values of one type: a truth value beside a number becomes one, too. Nil if their types differ otherwise.
  private func ofOneKind(_ first: Value, _ second: Value) -> (Value, Value)? {
    if first.kind == second.kind { return (first, second) }
    let (first, second) = (number(first), number(second))
    return first.kind == second.kind ? (first, second) : nil
  }

  /// A text in the form that is compared with these options.
  func folded(_ term: SQLTerm, _ options: FetchPredicate.Options) -> Value? {
    let options = TextComparison(options).options
    guard options.isEmpty || assumesASCII, let text = value(term), text.kind == .text else { return nil }
    guard options.contains(.caseInsensitive) else { return text }
    return ("lower(\(text.text) COLLATE \"C\")", .text)
  }

  func decimal(_ term: SQLTerm) -> ServerText? {
    if case .value(let constant) = term { return self.constant(constant, as: .decimal) }
    guard let value = value(term), value.kind == .decimal else { return nil }
    return value.text
  }

  /// A constant as a value of a type; nil if the type has no such value.
  private func constant(_ constant: SQLValue, as kind: Kind) -> ServerText? {
    switch (kind, constant) {
    case (.integer, .integer(let number)): return "\(integer: number)"
    case (.double, .double(let number)): return "\(double: number)"
    case (.double, .integer(let number)):
      // Integers above this bound aren't all exact as doubles.
      guard number.magnitude <= 1 << 53 else { return nil }
      return "\(double: Double(number))"
    case (.text, .text(let text)): return text.utf8.contains(0) ? nil : "\(text: text)"
    case (.bytes, .blob(let data)): return "\(data: data)"
    case (.boolean, .integer(0)): return "FALSE"
    case (.boolean, .integer(1)): return "TRUE"
    case (.uuid, .blob(let data)): return ServerParameter.uuid(data).map { "\(parameter: $0)" }
    case (.decimal, .integer(let number)): return "\(integer: number)::numeric"
    case (.decimal, .double(let number)): return number.isFinite ? "\(text: number.description)::numeric" : nil
    case (.decimal, .text(let text)): return "\(text: text)::numeric"
    case (.decimal, .blob(let data)): return "\(text: String(decoding: data, as: UTF8.self))::numeric"
    default: return nil
    }
  }

  // MARK: Scans

  private func selection(_ term: SQLTerm, of scan: SQLScan) -> (value: Value, rows: ServerText)? {
    let inner = adding(scan)
    guard let value = inner.value(term), let rows = inner.rows(scan) else { return nil }
    return (value, rows)
  }

  private func scan(_ scan: SQLScan) -> ServerText? { adding(scan).rows(scan) }

  func adding(_ scan: SQLScan) -> ServerTerms {
    var inner = self
    inner.assumesASCII = false
    for table in scan.tables { inner.tables[table.row] = table.name }
    return inner
  }

  /// The tables of a scan, which are in scope, with their conditions.
  private func rows(_ scan: SQLScan) -> ServerText? {
    let tables = scan.tables.map { table -> ServerText in "\(table: table.name) AS \(row: table.row)" }
    let all = scan.tables.compactMap(\.condition) + (scan.condition.map { [$0] } ?? [])
    guard let condition = conditions(all, joinedBy: " AND ", ofNone: "TRUE") else { return nil }
    return "\(tables.joined(separator: ", ")) WHERE \(condition)"
  }
}

extension SQLTerm.Operator {
  /// The operator of a comparison; nil for arithmetic.
  fileprivate var sign: ServerText? {
    switch self {
    case .equal: " = "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    case .same: " IS NOT DISTINCT FROM "
    case .different: " IS DISTINCT FROM "
    case .add, .subtract, .multiply, .divide, .remainder, .and, .or, .shiftLeft, .shiftRight: nil
    }
  }

  /// The operator with its sides exchanged.
  fileprivate var turned: SQLTerm.Operator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }
}
