import Foundation
import PersistTestSupport

/// Makes predicates of every form over a world, each with the types that the form accepts.
struct RandomPlainPredicate {
  var random: SeededRandom

  enum Kind { case text, number, date, uuid }

  /// Texts whose parts are folded one by one, so that results of CONTAINS and LIKE don't depend on the folding.
  private static let texts = [
    "", "a", "A", "ab", "aB", "b", "Tea", "tea", "TEA", "é", "e\u{301}", "\u{301}", "É", "e", "5", "1.5", "😀",
    "a%b", "a*b", "a?b",
    "a\\b", "it's", "\"q\"", "zz", "a\nb", "ñandú", "NANDU", "[a-z]", "ÅNGSTRÖM", "ångström",
  ]
  /// Texts with unusual folding, for comparisons of whole texts.
  static let odd = [
    "ß", "ss", "SS", "ẞ", "ı", "I", "i", "İ", "ﬁ", "fi", "Σας", "σασ", "K", "k", "ſ", "s", "ŉ",
    "ʼn",
  ]

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func pick<T>(_ values: [T]) -> T {
    values[Int.random(in: 0..<values.count, using: &random)]
  }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: Values

  mutating func value(_ kind: PlainWorld.Kind, _ name: String = "") -> PlainValue {
    if chance(20) { return .null }
    switch kind {
    case .text: return .text(name != "nick" && chance(25) ? pick(Self.odd) : pick(Self.texts))
    case .whole:
      let wide: [Int64] = [
        9_007_199_254_740_993, 9_007_199_254_740_992, .max, .max - 1, -9_007_199_254_740_993,
      ]
      return .number(
        Decimal(
          name == "big" && chance(40) ? pick(wide) : Int64.random(in: -3...9, using: &random)),
        isWhole: true)
    case .fraction:
      return .number(Decimal(Int.random(in: -8...20, using: &random)) / 4, isWhole: false)
    case .decimal:
      return .number(
        pick(
          ["0", "1", "1.5", "10.11", "-3", "0.1", "12345678901234567890.123"].compactMap {
            Decimal(string: $0)
          }), isWhole: false)
    case .date: return .date(Double(Int.random(in: -4...12, using: &random)) / 2)
    case .uuid:
      return .uuid(
        pick(
          ["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "00000000-0000-0000-0000-000000000001"]
            .compactMap(UUID.init)))
    }
  }

  // MARK: Predicates

  struct Scope {
    var entity: String
    var variables: [(name: String, entity: String)] = []
  }

  mutating func predicate(_ scope: Scope, depth: Int) -> PlainPredicate {
    if depth > 0, chance(40) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .not(predicate(scope, depth: depth - 1))
      case 1: return .and((0..<pick([2, 2, 3])).map { _ in predicate(scope, depth: depth - 1) })
      default: return .or((0..<pick([2, 2, 3])).map { _ in predicate(scope, depth: depth - 1) })
      }
    }
    if chance(2) { return .truth(chance(50)) }
    if chance(25), let members = members(scope) { return quantified(members, scope, depth) }
    if chance(8) { return nothing(scope) }
    let kind = pick([Kind.text, .text, .number, .number, .number, .date, .uuid])
    return comparison(.one, expression(kind, scope, depth), kind, scope, depth)
  }

  /// A path to objects or to one object, compared with null.
  private mutating func nothing(_ scope: Scope) -> PlainPredicate {
    let (variable, start) = root(scope)
    let (keys, entity) = toOnes(start, least: 0)
    let keyed =
      chance(40)
      ? PlainWorld.toManys[entity]?.randomElement(using: &random).map { keys + [$0.name] } : nil
    let path = keyed ?? keys
    guard !path.isEmpty else { return .truth(true) }
    return .compare(
      .one, .path(variable: variable, path), pick([.equal, .notEqual]), "", .constant(.null))
  }

  private mutating func quantified(
    _ members: (variable: String?, keys: [String], entity: String), _ scope: Scope, _ depth: Int
  ) -> PlainPredicate {
    let (further, entity) = chance(25) ? toOnes(members.entity, least: 1) : ([], members.entity)
    guard let attribute = PlainWorld.attributes[entity]?.randomElement(using: &random) else {
      return .truth(true)
    }
    let path = PlainExpression.path(
      variable: members.variable, members.keys + further + [attribute.name])
    if chance(15) {
      return .compare(.one, .constant(value(attribute.kind, attribute.name)), .isIn, "", path)
    }
    return comparison(
      pick(PlainPredicate.Quantifier.allCases.filter { $0 != .one }), path, kind(attribute.kind),
      scope, depth)
  }

  private func kind(_ kind: PlainWorld.Kind) -> Kind {
    switch kind {
    case .text: .text
    case .whole, .fraction, .decimal: .number
    case .date: .date
    case .uuid: .uuid
    }
  }

  private mutating func comparison(
    _ quantifier: PlainPredicate.Quantifier, _ left: PlainExpression, _ kind: Kind, _ scope: Scope,
    _ depth: Int
  ) -> PlainPredicate {
    func constant(_ generator: inout Self) -> PlainExpression {
      .constant(generator.constant(kind))
    }
    var operations: [PlainPredicate.Operator] = [.equal, .equal, .notEqual, .isIn]
    if kind != .uuid { operations += [.less, .lessOrEqual, .greater, .greaterOrEqual, .between] }
    if kind == .text { operations += [.contains, .begins, .ends, .like, .matches] }
    let operation = pick(operations)
    switch operation {
    case .between:
      return .compare(quantifier, left, .between, "", .list([constant(&self), constant(&self)]))
    case .isIn:
      let members = (0..<Int.random(in: 0...24, using: &random)).map { _ in constant(&self) }
      return .compare(
        quantifier, left, .isIn, kind == .text ? pick(["", "", "c"]) : "", .list(members))
    case .contains, .begins, .ends, .like, .matches:
      let patterns =
        operation == .like
        ? ["*", "a*", "?", "*a", "T?a", "e", ""] : [".*", "a.*", "[a-z]+", "\\w+", "T.a|tea", "."]
      let isPattern = operation == .like || operation == .matches
      let part = PlainValue.text(isPattern ? pick(patterns) : pick(Self.texts))
      let options = operation == .matches ? "" : pick(["", "c", "d", "cd"])
      return .compare(quantifier, plainText(left), operation, options, .constant(part))
    default:
      let right = chance(25) && depth > 0 ? expression(kind, scope, depth - 1) : constant(&self)
      return .compare(
        quantifier, left, operation,
        kind == .text && [.equal, .notEqual].contains(operation) ? pick(["", "c"]) : "", right)
    }
  }

  /// Within texts with unusual folding, parts depend on the folding: such operators are applied to the attribute
  /// without them.
  private func plainText(_ expression: PlainExpression) -> PlainExpression {
    guard case .path(let variable, let keys) = expression, keys.last == "name" else {
      return expression
    }
    return .path(variable: variable, keys.dropLast() + ["nick"])
  }

  private mutating func constant(_ kind: Kind) -> PlainValue {
    switch kind {
    case .text: value(.text)
    case .number: value(pick([.whole, .fraction, .decimal]), "big")
    case .date: value(.date)
    case .uuid: value(.uuid)
    }
  }

  // MARK: Expressions

  private mutating func expression(_ kind: Kind, _ scope: Scope, _ depth: Int) -> PlainExpression {
    guard depth > 0, chance(30) else { return attribute(kind, scope) }
    switch (kind, Int.random(in: 0..<5, using: &random)) {
    case (_, 0):
      return .ternary(
        predicate(scope, depth: depth - 1), expression(kind, scope, depth - 1),
        expression(kind, scope, depth - 1))
    case (.text, 1): return .call(pick(["uppercase", "lowercase"]), attribute(kind, scope))
    case (.number, 1): return .call("length", attribute(.text, scope))
    case (.number, 2):
      if chance(20) { return mixed(scope, depth) }
      return .infix(small(scope, depth - 1), pick(["+", "-", "*", "/"]), small(scope, depth - 1))
    case (.number, 3): return .call(pick(["abs", "-"]), small(scope, depth - 1))
    case (_, 4):
      guard let members = members(scope) else { return attribute(kind, scope) }
      if kind == .number, chance(50) {
        if chance(40) { return .aggregate(variable: members.variable, members.keys, "@count", nil) }
        let name = "v\(scope.variables.count)"
        var inner = scope
        inner.variables.append((name, members.entity))
        return .subqueryCount(
          variable: members.variable, members.keys, as: name, predicate(inner, depth: depth - 1))
      }
      return aggregate(kind, members) ?? attribute(kind, scope)
    default: return .call("noindex", attribute(kind, scope))
    }
  }

  private mutating func aggregate(
    _ kind: Kind, _ members: (variable: String?, keys: [String], entity: String)
  )
    -> PlainExpression?
  {
    let attributes = (PlainWorld.attributes[members.entity] ?? []).filter {
      self.kind($0.kind) == kind && $0.kind != .uuid
    }
    guard let attribute = attributes.randomElement(using: &random) else { return nil }
    var functions = ["@min", "@max"]
    // Sums of wide numbers become floating-point numbers, unlike plain decimals.
    if kind == .number, attribute.name != "big" { functions += ["@sum", "@avg"] }
    let function = pick(functions)
    // The mean of decimals is a decimal, others are doubles: they differ in the last digit of thirds.
    if function == "@avg", attribute.kind == .decimal { return nil }
    return .aggregate(variable: members.variable, members.keys, function, attribute.name)
  }

  /// Arithmetic with a decimal or another number, whichever a condition chooses.
  private mutating func mixed(_ scope: Scope, _ depth: Int) -> PlainExpression {
    let (variable, start) = root(scope)
    guard start == "Person" else { return small(scope, depth) }
    let (condition, other) = (predicate(scope, depth: depth - 1), small(scope, depth - 1))
    let money = PlainExpression.path(variable: variable, ["money"])
    let choice: PlainExpression =
      chance(50) ? .ternary(condition, money, other) : .ternary(condition, other, money)
    // Halves are exact as doubles and as decimals.
    if chance(50) { return .infix(choice, "/", .constant(.number(2, isWhole: true))) }
    return .infix(choice, pick(["+", "-", "*"]), small(scope, depth - 1))
  }

  /// A number for which arithmetic is exact.
  private mutating func small(_ scope: Scope, _ depth: Int) -> PlainExpression {
    if depth > 0, chance(25) {
      return .infix(small(scope, depth - 1), pick(["+", "-", "*"]), small(scope, depth - 1))
    }
    if chance(30) {
      return .constant(.number(Decimal(Int.random(in: -3...6, using: &random)), isWhole: true))
    }
    let (variable, start) = root(scope)
    let (keys, entity) = toOnes(start, least: 0)
    let name =
      ["Person": pick(["age", "age", "score"]), "Team": "size", "Tag": "rank"][entity] ?? "age"
    return .path(variable: variable, keys + [name])
  }

  private mutating func attribute(_ kind: Kind, _ scope: Scope) -> PlainExpression {
    let (variable, start) = root(scope)
    let (keys, entity) = toOnes(start, least: 0)
    let attributes = (PlainWorld.attributes[entity] ?? []).filter { self.kind($0.kind) == kind }
    guard let attribute = attributes.randomElement(using: &random) else {
      return .constant(constant(kind))
    }
    return .path(variable: variable, keys + [attribute.name])
  }

  private mutating func root(_ scope: Scope) -> (variable: String?, entity: String) {
    guard !scope.variables.isEmpty, chance(70) else { return (nil, scope.entity) }
    let variable = pick(scope.variables)
    return (variable.name, variable.entity)
  }

  /// Keys over to-one relationships: mostly few, sometimes more than SQLite can nest.
  private mutating func toOnes(_ start: String, least: Int) -> (keys: [String], entity: String) {
    var (keys, entity) = ([String](), start)
    let continues = chance(3) ? 95 : 25
    while keys.count < least || (chance(continues) && keys.count < 30) {
      guard let next = PlainWorld.toOnes[entity]?.randomElement(using: &random) else { break }
      keys.append(next.name)
      entity = next.entity
    }
    return (keys, entity)
  }

  private mutating func members(_ scope: Scope) -> (
    variable: String?, keys: [String], entity: String
  )? {
    let (variable, start) = root(scope)
    var (keys, entity) = chance(30) ? toOnes(start, least: 1) : ([], start)
    repeat {
      guard let next = PlainWorld.toManys[entity]?.randomElement(using: &random) else { break }
      keys.append(next.name)
      entity = next.entity
      if chance(15) {
        let (further, end) = toOnes(entity, least: 1)
        (keys, entity) = (keys + further, end)
      }
    } while chance(25) && keys.count < 5
    return keys.isEmpty ? nil : (variable, keys, entity)
  }
}
