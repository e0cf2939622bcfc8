import Foundation

/// Values: keys and functions.
extension PredicateTranslation {
  /// The translation of an expression; nil if it can't be translated exactly.
  package mutating func operand(_ expression: FetchExpression, in scope: Scope) -> SQLOperand? {
    switch expression {
    case .constant(let value): return .constant(value)
    case .current: return key(of: scope.root)
    case .variable(let name): return scope.members[name].map(key)
    case .path(let root, let keys): return path(root, keys, in: scope)
    case .element(let list, .size): return collection(list, in: scope).map { .term(.count($0.scan), .whole) }
    case .function(let function, let arguments): return operand(function, arguments, in: scope)
    case .ternary(let predicate, let first, let second):
      guard let condition = condition(predicate, in: scope),
        case .term(let first, let kind)? = term(first, in: scope),
        case .term(let second, let otherKind)? = term(second, in: scope)
      else { return nil }
      let choice = SQLTerm.choice(if: condition, then: first, else: second)
      switch [kind, otherKind] {
      case let kinds where kinds[0] == kinds[1]: return .term(choice, kind)
      case let kinds where kinds.contains(.date): return nil
      case let kinds where kinds.allSatisfy(\.isNumeric): return .term(choice, .number)
      case let kinds where kinds.allSatisfy { $0.isNumeric || $0.isDecimal }: return .term(choice, .mixed)
      default: return nil
      }
    case .keyPath, .element, .aggregate, .call, .subquery, .fetch: return nil
    }
  }

  private func key(of row: Row) -> SQLOperand {
    .term(.column("Z_PK", of: row.row), .key(root: row.entity.root))
  }

  private mutating func path(_ root: FetchExpression, _ keys: [String], in scope: Scope) -> SQLOperand? {
    if let operation = keys.firstIndex(where: { CollectionOperator(rawValue: $0) != nil }) {
      return aggregate(root, keys, at: operation, in: scope)
    }
    switch root {
    case .current: return value(keys[...], from: scope.root)
    case .variable(let name): return scope.members[name].flatMap { value(keys[...], from: $0) }
    default: return nil
    }
  }

  /// The value of keys from a row, through to-one relationships.
  mutating func value(_ keys: ArraySlice<String>, from row: Row) -> SQLOperand? {
    guard let key = keys.first else { return self.key(of: row) }
    let rest = keys.dropFirst()
    if isIdentity(keys, of: row.entity) { return self.key(of: row) }
    guard let property = row.entity.property(named: key) else { return nil }
    switch property.kind {
    case .attribute(let attribute): return column(property, attribute: attribute, rest: rest, of: row)
    case .relationship(let relationship):
      guard !relationship.isToMany, let column = map[row.entity].column(slot: property.slot) else { return nil }
      let reference = SQLTerm.column(column.name, of: row.row)
      let destination = map.model.destination(of: relationship)
      if rest.isEmpty || isIdentity(rest, of: destination) {
        return .term(reference, .key(root: destination.root))
      }
      let target = newRow(of: destination)
      guard case .term(let value, let kind)? = self.value(rest, from: target) else { return nil }
      return .term(.only(value, of: SQLScan(tables: [table(of: target, withKey: reference)])), kind)
    case .fetchedProperty: return nil
    }
  }

  /// Whether keys denote an object's identity: `self` or `objectID`, unless a property has that name.
  func isIdentity(_ keys: ArraySlice<String>, of entity: Entity) -> Bool {
    guard keys.count == 1, let key = keys.first, ["self", "objectID"].contains(key) else { return false }
    return entity.slot(named: key) == nil
  }

  /// A table's row with a key.
  package func table(of row: Row, withKey key: SQLTerm) -> SQLScan.Table {
    SQLScan.Table(
      name: map[row.entity].table, row: row.row, condition: .binary(.equal, .column("Z_PK", of: row.row), key))
  }

  /// The column of an attribute, or of an element of a composite attribute.
  private func column(
    _ property: Property, attribute: AttributeDescription, rest: ArraySlice<String>, of row: Row
  ) -> SQLOperand? {
    var (attribute, slot) = (attribute, property.slot)
    if !rest.isEmpty {
      guard let element = property.elements.first(where: { $0.path.dropFirst().elementsEqual(rest) }) else {
        return nil
      }
      (attribute, slot) = (element.attribute, element.slot)
    }
    guard !property.isTransient, let kind = SQLOperand.Kind(attribute),
      let column = map[row.entity].column(slot: slot)
    else { return nil }
    return .term(.column(column.name, of: row.row), kind)
  }

  // MARK: Functions

  /// An operand as a term, with constants as values.
  private mutating func term(_ expression: FetchExpression, in scope: Scope) -> SQLOperand? {
    switch operand(expression, in: scope) {
    case .constant(.integer(let value))?: .term(.value(.integer(value)), .whole)
    case .constant(.boolean(let value))?: .term(.value(.integer(value ? 1 : 0)), .whole)
    case .constant(.double(let value))?: .term(.value(.double(value)), .number)
    case .constant(.decimal(let value))?: DecimalColumn(value).map { .term(.value(SQLValue($0)), .decimal) }
    case .constant(.string(let value))?: .term(.value(.text(value)), .text)
    case .constant?: nil
    case let operand: operand
    }
  }

  private mutating func operand(
    _ function: FetchFunction, _ arguments: [FetchExpression], in scope: Scope
  ) -> SQLOperand? {
    switch function {
    case .now: return .constant(.date(now))
    case .noIndex where arguments.count == 1: return operand(arguments[0], in: scope)
    case .uppercase, .lowercase, .canonical, .length:
      guard arguments.count == 1, case .term(let text, let kind)? = operand(arguments[0], in: scope), kind.isText
      else { return nil }
      switch function {
      case .uppercase: return .term(.call(.uppercase, [text]), .text)
      case .lowercase: return .term(.call(.lowercase, [text]), .text)
      case .canonical: return .term(.call(.canonical, [text]), .text)
      default: return .term(.call(.length, [text]), .whole)
      }
    case .cast: return cast(arguments, in: scope)
    default: break
    }
    let numbers = arguments.compactMap { argument -> (SQLTerm, SQLOperand.Kind)? in
      guard case .term(let term, let kind)? = term(argument, in: scope), kind.isNumeric || kind == .decimal else {
        return nil
      }
      // A date may be stored as an integer, and would use integer division.
      return kind == .date ? (.real(term), .number) : (term, kind)
    }
    guard numbers.count == arguments.count else { return nil }
    guard numbers.count > 2 else { return number(function, numbers) }
    // SQLite's parser can't nest more calls.
    guard numbers.count < ParserStackUse.stackLimit else { return nil }
    return numbers.dropFirst(2).reduce(number(function, Array(numbers.prefix(2)))) { sum, number in
      guard case .term(let term, let kind)? = sum else { return nil }
      return self.number(function, [(term, kind), number])
    }
  }

  private func number(_ function: FetchFunction, _ numbers: [(SQLTerm, SQLOperand.Kind)]) -> SQLOperand? {
    let terms = numbers.map(\.0)
    if numbers.contains(where: { $0.1 == .decimal }) { return decimal(function, terms) }
    return number(function, terms, areWhole: numbers.allSatisfy { $0.1 == .whole })
  }

  /// Decimal arithmetic without losing digits: SQLite's own is floating-point.
  private func decimal(_ function: FetchFunction, _ terms: [SQLTerm]) -> SQLOperand? {
    func result(_ sign: String, of left: SQLTerm, and right: SQLTerm) -> SQLOperand {
      .term(.call(.decimalResult, [.value(.text(sign)), left, right]), .decimal)
    }
    let zero = SQLTerm.value(.integer(0))
    switch (function, terms.count) {
    case (.negate, 1): return result("-", of: zero, and: terms[0])
    case (.absolute, 1): return result("abs", of: terms[0], and: zero)
    case (.add, 2): return result("+", of: terms[0], and: terms[1])
    case (.subtract, 2): return result("-", of: terms[0], and: terms[1])
    case (.multiply, 2): return result("*", of: terms[0], and: terms[1])
    case (.divide, 2): return result("/", of: terms[0], and: terms[1])
    default: return nil
    }
  }

  /// Arithmetic, as far as SQLite's matches the evaluator's: integers overflow to floating-point numbers and use
  /// integer division, and division by zero is null. No form repeats an operand: each level of nesting would double the
  /// statement.
  private func number(_ function: FetchFunction, _ terms: [SQLTerm], areWhole: Bool) -> SQLOperand? {
    if terms.count == 1 {
      switch function {
      case .negate: return .term(.negative(terms[0]), .number)
      case .absolute: return .term(.call(.absolute, terms), .number)
      case .onesComplement where areWhole: return .term(.complement(terms[0]), .whole)
      default: return nil
      }
    }
    guard terms.count == 2 else { return nil }
    let (left, right) = (terms[0], terms[1])
    switch function {
    case .add: return .term(.binary(.add, left, right), .number)
    case .subtract: return .term(.binary(.subtract, left, right), .number)
    case .multiply: return .term(.binary(.multiply, left, right), .number)
    case .divide: return .term(.binary(.divide, left, right), .number)
    case .modulus where areWhole: return .term(.binary(.remainder, left, right), .whole)
    case .bitwiseAnd where areWhole: return .term(.binary(.and, left, right), .whole)
    case .bitwiseOr where areWhole: return .term(.binary(.or, left, right), .whole)
    case .bitwiseXor where areWhole: return .term(.call(.bitwiseXor, terms), .whole)
    case .shiftLeft where areWhole: return .term(.binary(.shiftLeft, left, right), .whole)
    case .shiftRight where areWhole: return .term(.binary(.shiftRight, left, right), .whole)
    default: return nil
    }
  }

  private mutating func cast(_ arguments: [FetchExpression], in scope: Scope) -> SQLOperand? {
    guard arguments.count == 2, case .constant(.string(let name)) = arguments[1],
      let type = CastType(className: name), let operand = operand(arguments[0], in: scope)
    else { return nil }
    switch (type, operand) {
    case (_, .constant(let value)): return type.cast(value).map(SQLOperand.constant)
    case (.number, .term(let term, .date)): return .term(.real(term), .number)
    case (.number, .term(_, .whole)), (.number, .term(_, .number)), (.date, .term(_, .date)),
      (.string, .term(_, .text)):
      return operand
    case (.date, .term(let term, .whole)), (.date, .term(let term, .number)): return .term(.real(term), .date)
    default: return nil
    }
  }
}
