package import Persist

extension OnlineExpansion {
  /// A column whose values a mapping model computes from those of the other model's columns.
  package struct Formula: Sendable, Equatable {
    /// An attribute of the other model, and its column.
    package struct Source: Sendable, Equatable {
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
    /// Whether numbers are rounded to 32 bits.
    package let isSingle: Bool
    /// The entity and the attribute.
    package let label: String

    /// Fails if the server can't compute the values exactly.
    package init?(
      _ side: Side, table: String, column: TableDefinition.Column, numbers: [Int], expression: FetchExpression,
      sources: [String: Source], standard: SQLValue, isSingle: Bool, label: String
    ) {
      (self.side, self.table, self.column, self.numbers) = (side, table, column, numbers)
      (self.expression, self.sources, self.standard, self.label) = (expression, sources, standard, label)
      self.isSingle = isSingle
      if value(of: "") == nil { return nil }
    }

    /// The columns from which and to which it computes.
    var columns: Set<String> { Set(sources.values.map(\.column) + [column.name]) }
  }
}

/// The value of a formula in SQL: that of the evaluator in memory.
///
/// A number that leaves the range of its type, which in memory would become an infinity, a floating-point number in
/// place of a whole one, or a value that the attribute doesn't accept, makes the statement fail.
extension OnlineExpansion.Formula {
  private struct Value {
    let text: ServerText
    let kind: ServerTerms.Kind
    /// Whether a floating-point number has no fraction.
    var isIntegral = false
    /// Whether each whole number has an equal floating-point number.
    var isNarrow = false
  }

  /// The value for the column.
  ///
  /// - Parameter row: The name of the row with a point.
  func value(of row: ServerText) -> ServerText? {
    let kind = ServerTerms.Kind(column.type)
    guard let found = value(expression, row), let converted = convert(found, to: kind) else { return nil }
    return standard == .null ? converted : "coalesce(\(converted), \(kind.literal(standard)))"
  }

  /// A value for an attribute, which accepts equal values of other types.
  private func convert(_ value: Value, to kind: ServerTerms.Kind) -> ServerText? {
    let isOther = value.kind != kind
    switch kind {
    case .double:
      guard !isOther || value.kind.isWhole else { return nil }
      let number: ServerText = isOther ? "(\(value.text))::float8" : value.text
      return isSingle ? "(\(number))::float4::float8" : number
    case .decimal:
      guard isOther else { return value.text }
      return value.kind.isWhole ? "(\(value.text))::numeric" : nil
    case _ where kind.isWhole:
      guard value.kind.isWhole || value.isIntegral else { return nil }
      return isOther ? "(\(value.text))::\(kind.typeName)" : value.text
    default: return isOther ? nil : value.text
    }
  }

  private func value(_ expression: FetchExpression, _ row: ServerText) -> Value? {
    switch expression {
    case .constant(.integer(let number)):
      return Value(text: "(\(number: number))::bigint", kind: .integer, isNarrow: abs(Double(number)) < 0x1p53)
    case .constant(.boolean(let flag)): return Value(text: flag ? "TRUE" : "FALSE", kind: .boolean)
    case .constant(.double(let number)):
      return number.isFinite ? Value(text: ServerTerms.Kind.double.literal(.double(number)), kind: .double) : nil
    case .constant(.string(let text)):
      return text.utf8.contains(0) ? nil : Value(text: ServerTerms.Kind.text.literal(.text(text)), kind: .text)
    case .path(.variable("source"), let keys):
      guard keys.count == 1, let source = sources[keys[0]] else { return nil }
      let kind = ServerTerms.Kind(source.type)
      let text: ServerText = "\(row)\(name: source.column)"
      return kind.isWhole
        ? Value(text: "(\(text))::bigint", kind: .integer, isNarrow: kind != .integer) : Value(text: text, kind: kind)
    case .function(let function, let arguments):
      let values = arguments.compactMap { value($0, row) }
      return values.count == arguments.count ? apply(function, values) : nil
    case .call(let target, "stringByAppendingString:", let arguments):
      guard arguments.count == 1, let first = value(target, row), let second = value(arguments[0], row),
        first.kind == .text, second.kind == .text
      else { return nil }
      return Value(text: "(\(first.text) || \(second.text))", kind: .text)
    case .ternary(let test, let first, let second):
      // Both results must be of one kind: in memory, a whole number isn't converted for a floating-point alternative.
      guard let test = condition(test, row), let first = value(first, row), let second = value(second, row),
        first.kind == second.kind
      else { return nil }
      return Value(
        text: "(CASE WHEN \(test) THEN \(first.text) ELSE \(second.text) END)", kind: first.kind,
        isIntegral: first.isIntegral && second.isIntegral)
    default: return nil
    }
  }

  private func apply(_ function: FetchFunction, _ values: [Value]) -> Value? {
    if values.count == 1 { return apply(function, values[0]) }
    guard values.count == 2, let (first, second) = ofOneKind(values[0], values[1]),
      first.kind.isWhole || first.kind == .double || first.kind == .decimal
    else { return nil }
    let kind = first.kind
    func result(_ text: ServerText) -> Value {
      // Arithmetic with infinities can yield NaN, which becomes null.
      Value(text: kind == .double ? "nullif(\(text), 'NaN'::float8)" : text, kind: kind)
    }
    switch function {
    case .add: return result("(\(first.text) + \(second.text))")
    case .subtract: return result("(\(first.text) - \(second.text))")
    case .multiply: return result("(\(first.text) * \(second.text))")
    // The digits of a decimal quotient would be others. Whole numbers are truncated toward zero.
    case .divide where kind != .decimal: return result("(\(first.text) / nullif(\(second.text), 0))")
    case .modulus where kind.isWhole: return result("mod(\(first.text), nullif(\(second.text), 0))")
    default: return nil
    }
  }

  private func apply(_ function: FetchFunction, _ value: Value) -> Value? {
    let isNumber = value.kind.isWhole || value.kind == .double
    func rounded(_ name: ServerText) -> Value {
      value.kind.isWhole ? value : Value(text: "\(name)(\(value.text))", kind: .double, isIntegral: true)
    }
    func computed(_ text: ServerText) -> Value { Value(text: text, kind: value.kind, isIntegral: value.isIntegral) }
    switch function {
    case .uppercase where value.kind == .text: return computed("upper(\(value.text) COLLATE \"und-x-icu\")")
    case .lowercase where value.kind == .text: return computed("lower(\(value.text) COLLATE \"und-x-icu\")")
    case .negate where isNumber || value.kind == .decimal: return computed("(- \(value.text))")
    case .absolute where isNumber || value.kind == .decimal: return computed("abs(\(value.text))")
    case .floor where isNumber: return rounded("floor")
    case .ceiling where isNumber: return rounded("ceil")
    case .truncate where isNumber: return rounded("trunc")
    default: return nil
    }
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
      // Neighbors of a large whole number have the same floating-point number.
      left.kind == right.kind || [left, right].allSatisfy({ !$0.kind.isWhole || $0.isNarrow }),
      let (left, right) = ofOneKind(left, right)
    else { return nil }
    return "(\(left.text) \(sign) \(right.text))"
  }

  /// Two values of one type; a whole number becomes a floating-point number beside another one.
  private func ofOneKind(_ first: Value, _ second: Value) -> (Value, Value)? {
    func converted(_ value: Value, to kind: ServerTerms.Kind) -> Value? {
      if value.kind == kind { return value }
      guard value.kind.isWhole else { return nil }
      return kind == .double
        ? Value(text: "(\(value.text))::float8", kind: .double)
        : kind == .decimal ? Value(text: "(\(value.text))::numeric", kind: .decimal) : nil
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
    guard !values.isEmpty else { return "NULL;" }
    let labels = group.filter { $0.side == side }.map(\.label).joined(separator: ", ")
    return """
      BEGIN \(values.joined(separator: " ")) EXCEPTION WHEN numeric_value_out_of_range THEN \
      RAISE EXCEPTION USING ERRCODE = 'check_violation', CONSTRAINT = \(literal: valueOutOfRange), \
      MESSAGE = \(literal: "\(labels): ") || SQLERRM; END;
      """
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
