package import Persist

extension OnlineExpansion {
  /// A column whose values a mapping model computes from those of the other model's columns.
  package struct Formula: Sendable, Hashable {
    /// An attribute of the other model, and its column.
    package struct Source: Sendable, Hashable {
      package let column: String
      package let type: TableMap.ColumnType

      package init(column: String, type: TableMap.ColumnType) { (self.column, self.type) = (column, type) }
    }

    /// The model that has the column.
    package let side: Side
    package let table: String
    package let column: TableDefinition.Column
    /// The entity numbers of the rows.
    package let numbers: [Int]
    package let expression: FetchExpression
    /// The attributes that the expression names.
    package let sources: [String: Source]
    /// The replacement for a missing value; null for none.
    package let standard: SQLValue
    /// The entity and the attribute.
    package let label: String

    /// Fails if the server can't compute the values exactly.
    package init?(
      _ side: Side, table: String, column: TableDefinition.Column, numbers: [Int], expression: FetchExpression,
      sources: [String: Source], standard: SQLValue, label: String
    ) {
      (self.side, self.table, self.column, self.numbers) = (side, table, column, numbers)
      (self.expression, self.sources, self.standard, self.label) = (expression, sources, standard, label)
      if value(of: "") == nil { return nil }
    }

    /// The columns from which and to which it computes.
    var columns: Set<String> { Set(sources.values.map(\.column) + [column.name]) }
  }
}

extension OnlineExpansion.Formula {
  private typealias Value = (text: ServerText, kind: ServerTerms.Kind)

  /// The value for the column.
  ///
  /// - Parameter row: The name of the row with a point.
  func value(of row: ServerText) -> ServerText? {
    let kind = ServerTerms.Kind(column.type)
    guard let (text, found) = value(expression, row) else { return nil }
    let isEqual = found == kind || found.isWhole && (kind.isWhole || [.double, .decimal].contains(kind))
    guard isEqual else { return nil }
    let converted = found == kind ? text : "(\(text))::\(kind.typeName)" as ServerText
    return standard == .null ? converted : "coalesce(\(converted), \(kind.literal(standard)))"
  }

  /// Numbers without a fraction are computed exactly, whatever their size.
  private func value(_ expression: FetchExpression, _ row: ServerText) -> Value? {
    switch expression {
    case .constant(.integer(let number)): return ("\(number: number)::numeric", .integer)
    case .constant(.boolean(let flag)): return (flag ? "TRUE" : "FALSE", .boolean)
    case .constant(.double(let number)):
      return number.isFinite ? (ServerTerms.Kind.double.literal(.double(number)), .double) : nil
    case .constant(.string(let text)):
      return text.utf8.contains(0) ? nil : (ServerTerms.Kind.text.literal(.text(text)), .text)
    case .path(.variable("source"), let keys):
      guard keys.count == 1, let source = sources[keys[0]] else { return nil }
      let kind = ServerTerms.Kind(source.type)
      let text: ServerText = "\(row)\(name: source.column)"
      return kind.isWhole ? ("\(text)::numeric", .integer) : (text, kind)
    case .function(let function, let arguments):
      let values = arguments.compactMap { value($0, row) }
      return values.count == arguments.count ? apply(function, values) : nil
    case .call(let target, "stringByAppendingString:", let arguments):
      guard arguments.count == 1, let first = value(target, row), let second = value(arguments[0], row),
        first.kind == .text, second.kind == .text
      else { return nil }
      return ("(\(first.text) || \(second.text))", .text)
    case .ternary(let test, let first, let second):
      guard let test = condition(test, row), let first = value(first, row), let second = value(second, row),
        let (first, second) = ofOneKind(first, second)
      else { return nil }
      return ("(CASE WHEN \(test) THEN \(first.text) ELSE \(second.text) END)", first.kind)
    default: return nil
    }
  }

  private func apply(_ function: FetchFunction, _ values: [Value]) -> Value? {
    if values.count == 1 { return apply(function, values[0]) }
    guard values.count == 2, let (first, second) = ofOneKind(values[0], values[1]),
      first.kind.isWhole || first.kind == .double || first.kind == .decimal
    else { return nil }
    switch function {
    case .add: return ("(\(first.text) + \(second.text))", first.kind)
    case .subtract: return ("(\(first.text) - \(second.text))", first.kind)
    case .multiply: return ("(\(first.text) * \(second.text))", first.kind)
    // The digits of a decimal quotient would be others.
    case .divide where first.kind == .double: return ("(\(first.text) / nullif(\(second.text), 0))", .double)
    case .divide where first.kind.isWhole: return ("div(\(first.text), nullif(\(second.text), 0))", first.kind)
    case .modulus where first.kind.isWhole: return ("mod(\(first.text), nullif(\(second.text), 0))", first.kind)
    default: return nil
    }
  }

  private func apply(_ function: FetchFunction, _ value: Value) -> Value? {
    let isNumber = value.kind.isWhole || value.kind == .double
    switch function {
    case .uppercase where value.kind == .text: return ("upper(\(value.text) COLLATE \"und-x-icu\")", .text)
    case .lowercase where value.kind == .text: return ("lower(\(value.text) COLLATE \"und-x-icu\")", .text)
    case .negate where isNumber || value.kind == .decimal: return ("(- \(value.text))", value.kind)
    case .absolute where isNumber || value.kind == .decimal: return ("abs(\(value.text))", value.kind)
    case .floor where isNumber: return whole("floor(\(value.text))", value.kind)
    case .ceiling where isNumber: return whole("ceil(\(value.text))", value.kind)
    case .truncate where isNumber: return whole("trunc(\(value.text))", value.kind)
    default: return nil
    }
  }

  /// A number without a fraction. The direct conversion of a floating-point number would keep 15 digits.
  private func whole(_ text: ServerText, _ kind: ServerTerms.Kind) -> Value {
    (kind == .double ? "\(text)::bigint::numeric" : text, .integer)
  }

  private func condition(_ predicate: FetchPredicate, _ row: ServerText) -> ServerText? {
    guard case .comparison(let comparison) = predicate, comparison.modifier == .direct, comparison.options.isEmpty
    else { return nil }
    let sign: ServerText
    switch comparison.operation {
    case .equal: sign = "IS NOT DISTINCT FROM"
    case .notEqual: sign = "IS DISTINCT FROM"
    default: return nil
    }
    if comparison.right.constantValue == .null {
      return value(comparison.left, row).map { "(\($0.text) \(sign) NULL)" }
    }
    guard let left = value(comparison.left, row), let right = value(comparison.right, row),
      let (left, right) = ofOneKind(left, right)
    else { return nil }
    return "(\(left.text) \(sign) \(right.text))"
  }

  /// Two values of one type; a whole number becomes a floating-point number beside another one.
  private func ofOneKind(_ first: Value, _ second: Value) -> (Value, Value)? {
    func converted(_ value: Value, to kind: ServerTerms.Kind) -> Value? {
      if value.kind == kind { return value }
      guard value.kind.isWhole else { return nil }
      return kind == .double ? ("\(value.text)::float8", .double) : kind == .decimal ? (value.text, .decimal) : nil
    }
    if let second = converted(second, to: first.kind) { return (first, second) }
    return converted(first, to: second.kind).map { ($0, second) }
  }
}

extension OnlineExpansion {
  /// The formulas of a table, grouped by the columns that depend on each other.
  func formulaGroups(of table: String) -> [[Formula]] {
    var groups: [(columns: Set<String>, formulas: [Formula])] = []
    for formula in formulas where formula.table == table {
      var merged = (columns: formula.columns, formulas: [formula])
      groups.removeAll { group in
        guard !group.columns.isDisjoint(with: merged.columns) else { return false }
        merged = (merged.columns.union(group.columns), group.formulas + merged.formulas)
        return true
      }
      groups.append(merged)
    }
    return groups.map(\.formulas)
  }
}

/// The statements of a table's trigger that compute the values of each model from those of the other.
extension OnlineTriggers {
  static func computeInserted(_ group: [OnlineExpansion.Formula]) -> ServerText {
    let second = group.filter { $0.side == .second }.map { "NEW.\(name: $0.column.name) IS NOT NULL" as ServerText }
    let conditions = (["is_second"] + second).joined(separator: " OR ")
    return "IF \(conditions) THEN \(compute(.first, group)) ELSE \(compute(.second, group)) END IF;"
  }

  /// A column of both models means that of the program's own, which assigns the others itself.
  static func computeUpdated(_ group: [OnlineExpansion.Formula]) -> ServerText {
    func isChanged(_ side: OnlineExpansion.Side, withSources: Bool = true) -> ServerText {
      let own = group.flatMap { formula in
        formula.side == side ? [formula.column.name] : withSources ? formula.sources.values.map(\.column) : []
      }
      let tests = Set(own).sorted().map { "NEW.\(name: $0) IS DISTINCT FROM OLD.\(name: $0)" as ServerText }
      return "(\(tests.isEmpty ? "FALSE" : tests.joined(separator: " OR ")))"
    }
    // A backfill assigns what the first model's columns mean, which may be less exact than they are.
    let values = group.computedValues(for: .second, in: "NEW.")
    let isOwn = values.map { "NEW.\(name: $0.column) IS DISTINCT FROM (\($0.value))" as ServerText }
    let isAssigned: ServerText = isOwn.isEmpty ? "" : " AND (\(isOwn.joined(separator: " OR ")))"
    return """
      IF is_second THEN IF \(isChanged(.second)) THEN \(compute(.first, group)) END IF; \
      ELSIF \(isChanged(.first)) THEN \(compute(.second, group)) \
      ELSIF \(isChanged(.second, withSources: false))\(isAssigned) THEN \(compute(.first, group)) END IF;
      """
  }

  private static func compute(_ side: OnlineExpansion.Side, _ group: [OnlineExpansion.Formula]) -> ServerText {
    let values = group.computedValues(for: side, in: "NEW.").map { column, value in
      "NEW.\(name: column) := \(value);" as ServerText
    }
    return values.isEmpty ? "NULL;" : values.joined(separator: " ")
  }
}

extension OnlineExpansion {
  /// The columns of a table that formulas compute, with their values.
  ///
  /// - Parameters:
  ///   - side: The model that has the columns.
  ///   - row: The name of the row with a point.
  func computedValues(
    of table: String, for side: Side, in row: ServerText
  ) -> [(column: String, value: ServerText)] {
    formulas.filter { $0.table == table }.computedValues(for: side, in: row)
  }
}

extension [OnlineExpansion.Formula] {
  /// The columns with their values. Rows of entities without a formula keep theirs.
  ///
  /// - Parameters:
  ///   - side: The model that has the columns.
  ///   - row: The name of the row with a point.
  fileprivate func computedValues(
    for side: OnlineExpansion.Side, in row: ServerText
  ) -> [(column: String, value: ServerText)] {
    let columns = Dictionary(grouping: filter { $0.side == side }, by: \.column.name)
    return columns.sorted { $0.key < $1.key }.map { column, formulas in
      let cases = formulas.map { formula -> ServerText in
        "WHEN \(row)entity IN (\(numbers: formula.numbers)) THEN \(formula.value(of: row) ?? "NULL")"
      }
      return (column, "CASE \(cases.joined(separator: " ")) ELSE \(row)\(name: column) END")
    }
  }
}
