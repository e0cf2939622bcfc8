import Foundation

/// Comparisons.
extension PredicateTranslation {
  mutating func condition(_ comparison: FetchPredicate.Comparison, in scope: Scope) -> SQLTerm? {
    if comparison.operation == .matchesText { return textMatch(comparison, in: scope) }
    if let condition = entityCondition(comparison, in: scope) { return condition }
    guard comparison.modifier == .direct else { return quantified(comparison, in: scope) }
    switch comparison.operation {
    case .in: return membership(of: comparison.left, in: comparison.right, comparison, scope)
    case .contains where comparison.left.isList || isCollection(comparison.left, in: scope):
      return membership(of: comparison.right, in: comparison.left, comparison, scope)
    default: break
    }
    // A to-many relationship compared with null equals it if it has no members.
    if comparison.right == .constant(.null), [.equal, .notEqual].contains(comparison.operation),
      let collection = collection(comparison.left, in: scope)
    {
      let hasMembers = SQLTerm.exists(collection.scan)
      return comparison.operation == .equal ? .not(hasMembers) : hasMembers
    }
    guard let left = operand(comparison.left, in: scope) else { return nil }
    return condition(left, comparison.operation, comparison.right, options: comparison.options, in: scope)
  }

  /// `ANY`: a member satisfies the condition. `ALL`: no member violates it.
  private mutating func quantified(_ comparison: FetchPredicate.Comparison, in scope: Scope) -> SQLTerm? {
    guard var members = collection(comparison.left, in: scope), let member = members.member,
      let condition = condition(member, comparison.operation, comparison.right, options: comparison.options, in: scope)
    else { return nil }
    members.scan.add(comparison.modifier == .any ? condition : .not(condition))
    return comparison.modifier == .any ? .exists(members.scan) : .not(.exists(members.scan))
  }

  /// One operand compared with an expression.
  private mutating func condition(
    _ left: SQLOperand, _ operation: FetchPredicate.Operator, _ right: FetchExpression,
    options: FetchPredicate.Options, in scope: Scope
  ) -> SQLTerm? {
    let options = options.contains(.normalized) ? [] : options
    // Only the program can apply locale rules.
    guard !options.contains(.localeSensitive) else { return nil }
    switch operation {
    case .between:
      guard case .aggregate(let bounds) = right, bounds.count == 2, let lower = operand(bounds[0], in: scope),
        let upper = operand(bounds[1], in: scope), let above = order(left, .greaterOrEqual, lower, options: options),
        let below = order(left, .lessOrEqual, upper, options: options)
      else { return nil }
      // An operand other than a column is written once: otherwise each level of nested ranges would double the
      // statement.
      if case .term(let term, let kind) = left, !kind.isDecimal, !term.isColumn,
        case .binary(.greaterOrEqual, let whole, let least) = above, case .binary(.lessOrEqual, _, let greatest) = below
      {
        return .between(whole, least, greatest)
      }
      return .all([above, below])
    case .in:
      if case .aggregate(let values) = right { return isOne(left, of: values, options, in: scope) }
      guard let whole = operand(right, in: scope) else { return nil }
      return text(whole, .contains, left, options: options)
    case .equal, .notEqual:
      guard let right = operand(right, in: scope), let isSame = same(left, right, options) else { return nil }
      return operation == .equal ? isSame : isSame.negated
    case .less: return operand(right, in: scope).flatMap { order(left, .less, $0, options: options) }
    case .lessOrEqual: return operand(right, in: scope).flatMap { order(left, .lessOrEqual, $0, options: options) }
    case .greater: return operand(right, in: scope).flatMap { order(left, .greater, $0, options: options) }
    case .greaterOrEqual:
      return operand(right, in: scope).flatMap { order(left, .greaterOrEqual, $0, options: options) }
    case .contains, .beginsWith, .endsWith, .like, .matches:
      return operand(right, in: scope).flatMap { text(left, operation, $0, options: options) }
    case .matchesText: return nil
    }
  }

  // MARK: Equality

  @inline(never)
  func same(_ left: SQLOperand, _ right: SQLOperand, _ options: FetchPredicate.Options) -> SQLTerm? {
    switch (left, right) {
    case (.constant(let left), .constant(let right)): left.isSame(as: right, options: options) ? .always : .never
    case (.term(let term, let kind), .constant(let value)), (.constant(let value), .term(let term, let kind)):
      same(term, kind, as: value, options: options)
    case (.term(let left, let leftKind), .term(let right, let rightKind)):
      same(left, of: leftKind, as: right, of: rightKind, options: options)
    }
  }

  private func same(
    _ term: SQLTerm, _ kind: SQLOperand.Kind, as value: StoredValue, options: FetchPredicate.Options
  ) -> SQLTerm? {
    if case .key = kind {
      guard case .objectID(let id) = value else {
        guard value.isNull else { return .never }
        if !term.isColumn { return .isNull(.call(.nullIf, [term, .value(.integer(0))])) }
        return .any([.isNull(term), .binary(.equal, term, .value(.integer(0)))])
      }
      return isRow(term, of: kind, among: [id])
    }
    if value.isNull { return .isNull(term) }
    if case .count(let members) = term, value == .integer(0) { return .not(.exists(members)) }
    switch SQLOperand.comparable(value, with: kind) {
    case nil: return nil
    case .nothing: return .never
    case .value(let value):
      if kind.isDecimal {
        return .binary(.equal, .call(.decimalOrder, [term, .value(value)]), .value(.integer(0)))
      }
      return .binary(.equal, folded(term, of: kind, options: options), .value(folded(value, options)))
    }
  }

  private func same(
    _ left: SQLTerm, of leftKind: SQLOperand.Kind, as right: SQLTerm, of rightKind: SQLOperand.Kind,
    options: FetchPredicate.Options
  ) -> SQLTerm? {
    switch (leftKind, rightKind) {
    case (.key(let leftRoot), .key(let rightRoot)):
      guard leftRoot == rightRoot else { return nil }
      let none = SQLTerm.value(.integer(0))
      return .binary(.same, .call(.nullIf, [left, none]), .call(.nullIf, [right, none]))
    case _ where leftKind.isNumeric && rightKind.isNumeric, (.uuid, .uuid), (.data, .data):
      return .binary(.same, left, right)
    case _ where leftKind.isText && rightKind.isText:
      return .binary(
        .same, folded(left, of: leftKind, options: options), folded(right, of: rightKind, options: options))
    default: return nil
    }
  }

  // MARK: Order

  private func order(
    _ left: SQLOperand, _ operation: SQLTerm.Operator, _ right: SQLOperand, options: FetchPredicate.Options
  ) -> SQLTerm? {
    switch (left, right) {
    case (.constant(let left), .constant(let right)):
      return left.order(to: right, options: options).map { operation.accepts($0) } ?? false ? .always : .never
    case (.constant, .term): return order(right, operation.reversed, left, options: options)
    case (.term(let term, let kind), .constant(let value)):
      if value.isNull { return .never }
      if case .key = kind { return .never }
      // A single member is sufficient.
      if case .count(let members) = term, operation == .greater, value == .integer(0) { return .exists(members) }
      switch SQLOperand.comparable(value, with: kind) {
      case nil: return nil
      case .nothing: return .never
      case .value(let value):
        if kind.isDecimal {
          return .binary(operation, .call(.decimalOrder, [term, .value(value)]), .value(.integer(0)))
        }
        return .binary(operation, folded(term, of: kind, options: options), .value(folded(value, options)))
      }
    case (.term(let left, let leftKind), .term(let right, let rightKind)):
      if leftKind.isNumeric && rightKind.isNumeric || (leftKind == .uuid && rightKind == .uuid) {
        return .binary(operation, left, right)
      }
      guard leftKind.isText && rightKind.isText else { return nil }
      return .binary(
        operation, folded(left, of: leftKind, options: options), folded(right, of: rightKind, options: options))
    }
  }

  // MARK: Membership

  private mutating func membership(
    of member: FetchExpression, in list: FetchExpression, _ comparison: FetchPredicate.Comparison, _ scope: Scope
  ) -> SQLTerm? {
    guard let member = operand(member, in: scope) else { return nil }
    if var members = collection(list, in: scope) {
      guard let one = members.member, let isSame = same(one, member, comparison.options.comparable) else { return nil }
      members.scan.add(isSame)
      return comparison.options.contains(.localeSensitive) ? nil : .exists(members.scan)
    }
    return condition(member, .in, list, options: comparison.options, in: scope)
  }

  /// Tests whether a value is in a list.
  private mutating func isOne(
    _ operand: SQLOperand, of expressions: [FetchExpression], _ options: FetchPredicate.Options, in scope: Scope
  ) -> SQLTerm? {
    var values: [StoredValue] = []
    var conditions: [SQLTerm] = []
    for expression in expressions {
      guard let member = self.operand(expression, in: scope) else { return nil }
      if case .constant(let value) = member, !value.isNull {
        values.append(value)
      } else {
        guard let isSame = same(operand, member, options) else { return nil }
        conditions.append(isSame)
      }
    }
    guard case .term(let term, let kind) = operand, !kind.isDecimal else {
      for value in values {
        guard let isSame = same(operand, .constant(value), options) else { return nil }
        conditions.append(isSame)
      }
      return .any(conditions)
    }
    if case .key = kind {
      conditions.append(
        isRow(term, of: kind, among: values.compactMap { if case .objectID(let id) = $0 { id } else { nil } }))
      return .any(conditions)
    }
    var comparable: [SQLValue] = []
    for value in values {
      guard let value = SQLOperand.comparable(value, with: kind) else { return nil }
      if case .value(let value) = value { comparable.append(folded(value, options)) }
    }
    let isOne = Self.isOne(folded(term, of: kind, options: options), of: comparable)
    if conditions.count == 1, case .isNull = conditions[0], !term.isColumn, !comparable.isEmpty {
      return .call(.ifNull, [isOne, .always])
    }
    return .any(conditions + [isOne])
  }

  /// Long lists are bound as one value, so that any length fits and the statement's text doesn't change.
  private static func isOne(_ term: SQLTerm, of values: [SQLValue]) -> SQLTerm {
    if values.isEmpty { return .never }
    if values.count > 20, let json = SQLValue.jsonArray(values) { return .isMember(term, ofJSON: json) }
    return .isOne(term, of: values)
  }

  /// Tests whether a key belongs to one of some objects, including the entity.
  private func isRow(_ term: SQLTerm, of kind: SQLOperand.Kind, among ids: [ManagedObjectID]) -> SQLTerm {
    guard case .key(let root) = kind else { return .never }
    var keysByEntity: [String: [SQLValue]] = Dictionary()
    for id in ids.lazy.map(\.current) where id.storeIdentifier == storeIdentifier {
      guard let key = id.primaryKey, map.model.entitiesByName[id.entityName]?.root == root else { continue }
      keysByEntity[id.entityName, default: []].append(.integer(key))
    }
    let conditions = keysByEntity.sorted(on: \.key).map { name, keys -> SQLTerm in
      let isKey = Self.isOne(term, of: keys)
      // A key identifies a row of a hierarchy, but an identifier may name an entity of it other than the row's.
      guard root.hasSubentities, let entity = map.model.entitiesByName[name] else { return isKey }
      let row = SQLRow(number: Self.firstCheckedRow + entity.number)
      let number = SQLTerm.value(.integer(Int64(map.numbers[entity])))
      let scan = SQLScan(
        tables: [
          SQLScan.Table(name: map[entity].table, row: row, condition: .binary(.equal, .column("Z_PK", of: row), term))
        ], condition: .binary(.equal, .column("Z_ENT", of: row), number))
      return .all([isKey, .exists(scan)])
    }
    return .any(conditions)
  }

  /// The first of the numbers for rows used only within their own condition, beyond those of the rest of the query.
  private static let firstCheckedRow = 1_000_000

  // MARK: Texts

  private func text(
    _ left: SQLOperand, _ operation: FetchPredicate.Operator, _ right: SQLOperand, options: FetchPredicate.Options
  ) -> SQLTerm? {
    if case .constant(.null) = right { return .never }
    guard case .constant(let value) = right, let part = value.text else { return nil }
    guard case .term(var term, let kind) = left else { return nil }
    switch kind {
    case .text, .uri: break
    case .whole: term = .text(term)
    // In memory, these have no text either, and CONTAINS is an error.
    case .date, .data, .key: return operation == .contains ? nil : .never
    case .number, .decimal, .mixed, .uuid: return nil
    }
    let bits = SQLTerm.value(.integer(Int64(options.rawValue)))
    switch operation {
    case .contains:
      if part.isEmpty { return .isPresent(term) }
      let place = SQLTerm.call(
        .position, [folded(term, of: kind, options: options), .value(folded(.text(part), options))])
      return .binary(.greater, place, .value(.integer(0)))
    case .beginsWith:
      if part.isEmpty { return .isPresent(term) }
      let (whole, start) = (folded(term, of: kind, options: options), TextComparison(options).folded(part))
      guard whole.isColumn else {
        return .binary(.equal, .call(.position, [whole, .value(.text(start))]), .value(.integer(1)))
      }
      let isBehind = SQLTerm.binary(.greaterOrEqual, whole, .value(.text(start)))
      // BEGINSWITH "ab" is >= "ab" AND < "ac", which an index supports.
      return start.nextPrefix.map { .all([isBehind, .binary(.less, whole, .value(.text($0)))]) } ?? isBehind
    case .endsWith: return part.isEmpty ? .isPresent(term) : .call(.endsWith, [term, bits, .value(.text(part))])
    case .like: return .call(.like, [term, bits, .value(.text(part))])
    case .matches: return .call(.matches, [term, bits, .value(.text(part))])
    default: return nil
    }
  }

  @inline(never)
  private func folded(_ term: SQLTerm, of kind: SQLOperand.Kind, options: FetchPredicate.Options) -> SQLTerm {
    let options = options.comparable
    guard kind.isText, !options.isEmpty else { return term }
    return .call(.fold, [term, .value(.integer(Int64(options.rawValue)))])
  }

  private func folded(_ value: SQLValue, _ options: FetchPredicate.Options) -> SQLValue {
    guard case .text(let text) = value else { return value }
    return .text(TextComparison(options.comparable).folded(text))
  }
}

extension FetchPredicate.Options {
  /// The options without locale sensitivity.
  fileprivate var comparable: FetchPredicate.Options {
    contains(.normalized) ? [] : intersection([.caseInsensitive, .diacriticInsensitive])
  }
}

extension FetchExpression {
  fileprivate var isList: Bool { if case .aggregate = self { true } else { false } }
}

extension SQLTerm {
  fileprivate var isColumn: Bool { if case .column = self { true } else { false } }

  /// The negation; for an equality, a form that doesn't need to check for nulls again.
  fileprivate var negated: SQLTerm {
    switch self {
    case .binary(.same, let left, let right): .binary(.different, left, right)
    case .binary(.equal, let left, .value(let value)): .binary(.different, left, .value(value))
    case .isNull(let part): .isPresent(part)
    default: .not(self)
    }
  }
}

extension SQLTerm.Operator {
  /// The operator with its sides swapped.
  fileprivate var reversed: SQLTerm.Operator {
    switch self {
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    default: self
    }
  }

  fileprivate func accepts(_ order: ValueOrder) -> Bool {
    switch self {
    case .less: order == .less
    case .lessOrEqual: order != .greater
    case .greater: order == .greater
    case .greaterOrEqual: order != .less
    default: order == .equal
    }
  }
}

extension String {
  /// The least text that is greater than every text with this prefix, by UTF-8 bytes; nil if there is none. It ends
  /// with the successor of this text's last character.
  var nextPrefix: String? {
    var scalars = unicodeScalars
    while let last = scalars.popLast() {
      // Surrogates aren't scalar values.
      let next = last.value == 0xD7FF ? 0xE000 : last.value + 1
      if let scalar = Unicode.Scalar(next) {
        scalars.append(scalar)
        return String(scalars)
      }
    }
    return nil
  }
}

extension SQLValue {
  /// A JSON array of integers or texts. Nil for other values, and for texts that SQLite's JSON would truncate.
  fileprivate static func jsonArray(_ values: [SQLValue]) -> String? {
    var parts: [String] = []
    for value in values {
      switch value {
      case .integer(let number): parts.append(String(number))
      case .text(let text):
        guard !text.utf8.contains(0), let data = try? JSONEncoder().encode(text) else { return nil }
        parts.append(String(decoding: data, as: UTF8.self))
      default: return nil
      }
    }
    return "[" + parts.joined(separator: ",") + "]"
  }
}
