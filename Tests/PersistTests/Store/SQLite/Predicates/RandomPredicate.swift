import Foundation

@testable import Persist
@testable import PersistModel

/// Makes predicates and values over a model, of all kinds and in all forms, including wrong ones.
struct RandomPredicate {
  var random: SeededGenerator
  let model: ManagedObjectModel
  var ids: [ManagedObjectID]

  private static let texts = [
    "", "a", "A", "ab", "aB", "b", "Tea", "tea", "TEA", "é", "e\u{301}", "\u{301}", "É", "e", "Straße", "STRASSE", "5", "12", "-3", "1.5",
    "😀", "a%b", "a_b", "a*b", "a?b", "a\\b", "it's", "\"q\"", "\u{7f}", "zz", "Σας", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F",
    "10.11", "ﬀ", "İ", "a\nb", "YES", "https://a/é",
  ]
  private static let uuids = [
    UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"), UUID(uuidString: "00000000-0000-0000-0000-000000000001"),
  ].compactMap { $0 }

  mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: Values

  mutating func value(of type: AttributeType) -> StoredValue {
    if chance(15) { return .null }
    switch type {
    case .int16: return .integer(pick([0, 1, -1, 2, 5, 12, 100, Int64(Int16.max), Int64(Int16.min)]))
    case .int32: return .integer(pick([0, 1, -1, 2, 3, 7, 100, Int64(Int32.max), Int64(Int32.min)]))
    case .int64:
      return .integer(pick([0, 1, -1, 5, 9_007_199_254_740_993, 9_007_199_254_740_992, .max, .min, .max - 1]))
    case .double: return .double(pick([0, -0.0, 0.1, 1, 1.5, -3, 10.11, 1e300, 9_007_199_254_740_992, .infinity, 5e18]))
    case .float: return .double(Double(pick([0, 0.1, 1.5, -3, 1e30] as [Float])))
    case .decimal:
      return .decimal(
        pick(
          ["0", "1", "1.5", "10.11", "-3", "0.1", "12345678901234567890.123", "9223372036854775807", "1e30"]
            .compactMap { Decimal(string: $0) }))
    case .string: return .string(pick(Self.texts))
    case .uri: return .uri(pick(Self.texts))
    case .boolean: return .boolean(chance(50))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: pick([0, 1, 5, 12, -3, 1.5, 700_000_000.25])))
    case .uuid: return .uuid(pick(Self.uuids))
    case .binary, .transformable: return .data(pick([Data(), Data([0]), Data([1, 2]), Data("a".utf8)]))
    default: return .null
    }
  }

  private mutating func constant() -> StoredValue {
    if chance(8), !ids.isEmpty { return .objectID(pick(ids)) }
    return value(of: pick([.int16, .int64, .double, .decimal, .string, .string, .boolean, .date, .uuid, .uri, .binary]))
  }

  // MARK: Predicates

  mutating func predicate(over entity: Entity, depth: Int = 3) -> FetchPredicate {
    predicate(Scope(entity: entity), depth)
  }

  private struct Scope {
    let entity: Entity
    var members: [(name: String, entity: Entity)] = []
  }

  private mutating func predicate(_ scope: Scope, _ depth: Int) -> FetchPredicate {
    if depth > 0, chance(45) {
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .not(predicate(scope, depth - 1))
      case 1: return .and((0..<Int.random(in: 2...3, using: &random)).map { _ in predicate(scope, depth - 1) })
      default: return .or((0..<Int.random(in: 2...3, using: &random)).map { _ in predicate(scope, depth - 1) })
      }
    }
    if chance(2) { return .constant(chance(50)) }
    return comparison(scope, depth)
  }

  private mutating func comparison(_ scope: Scope, _ depth: Int) -> FetchPredicate {
    let options = pick(
      [
        [], [], [], .caseInsensitive, [.caseInsensitive, .diacriticInsensitive], .diacriticInsensitive, .normalized,
        [.diacriticInsensitive, .normalized],
      ] as [FetchPredicate.Options])
    if chance(25), let (path, type) = manyPath(scope) {
      let modifier: FetchPredicate.Modifier = chance(60) ? .any : .all
      let (operation, right) = operatorAndRight(type, scope, depth)
      return .compare(path, operation, right, modifier: modifier, options: options)
    }
    if chance(8), let (path, type) = manyPath(scope) {
      return chance(50)
        ? .compare(.constant(type.map { value(of: $0) } ?? constant()), .in, path, options: options)
        : .compare(path, .contains, .constant(type.map { value(of: $0) } ?? constant()), options: options)
    }
    let (left, type) = expression(scope, depth)
    let (operation, right) = operatorAndRight(type, scope, depth)
    return .compare(left, operation, right, options: options)
  }

  private mutating func operatorAndRight(_ type: AttributeType?, _ scope: Scope, _ depth: Int) -> (
    FetchPredicate.Operator, FetchExpression
  ) {
    var operators: [FetchPredicate.Operator] = [
      .equal, .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .between, .in,
    ]
    // Operators on texts are mostly applied to texts.
    if type == .string || type == .uri || chance(10) {
      operators += [.contains, .beginsWith, .endsWith, .like, .matches]
    }
    let operation = pick(operators)
    func like(_ generator: inout Self) -> FetchExpression {
      .constant(type.map { generator.value(of: $0) } ?? generator.constant())
    }
    switch operation {
    case .between: return (operation, .aggregate([like(&self), like(&self)]))
    case .in:
      return (operation, .aggregate((0..<Int.random(in: 0...25, using: &random)).map { _ in
        chance(90) ? like(&self) : .constant(constant())
      }))
    case .contains, .beginsWith, .endsWith: return (operation, .constant(.string(pick(Self.texts))))
    case .like: return (operation, .constant(.string(pick(["*", "a*", "?", "*a", "T?a", "*\\**", "e", "", "[a-z]"]))))
    case .matches: return (operation, .constant(.string(pick([".*", "a.*", "[a-z]+", "\\w+", "T.A|tea", "", "."]))))
    default:
      if chance(15) { return (operation, expression(scope, depth - 1).0) }
      return (operation, chance(85) ? like(&self) : .constant(constant()))
    }
  }

  // MARK: Expressions

  private mutating func expression(_ scope: Scope, _ depth: Int) -> (FetchExpression, AttributeType?) {
    if depth > 0, chance(20) {
      switch Int.random(in: 0..<6, using: &random) {
      case 0:
        let (left, _) = number(scope)
        let (right, _) = chance(50) ? number(scope) : (.constant(value(of: pick([.int16, .double]))), nil)
        let function = pick([
          .add, .subtract, .multiply, .divide, .modulus, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .shiftLeft, .shiftRight,
        ] as [FetchFunction])
        return (.function(function, [left, right]), pick([.int16, .double]))
      case 1: return (.function(pick([.negate, .absolute, .onesComplement]), [number(scope).0]), .int16)
      case 2:
        return (.function(pick([.uppercase, .lowercase, .canonical]), [attribute(scope, [.string]).0]), .string)
      case 3: return (.function(.length, [attribute(scope, [.string]).0]), .int16)
      case 4:
        let predicate = predicate(scope, depth - 1)
        return (.ternary(predicate, number(scope).0, number(scope).0), .int16)
      default:
        if let path = collection(scope, depth) {
          let (count, operators) = (path, ["@count", "@count", "@sum", "@min", "@max"])
          let operation = pick(operators)
          if operation == "@count" { return (.path(of: count.0, ["@count"]), .int16) }
          let attributes = count.1.attributes.filter { [.int16, .int32, .double, .date].contains($0.type) }
          guard !attributes.isEmpty else { return (.path(of: count.0, ["@count"]), .int16) }
          return (.path(of: count.0, [operation, pick(attributes).name]), .int16)
        }
      }
    }
    if chance(8) { return (root(scope), nil) }
    return attribute(scope, [])
  }

  private mutating func root(_ scope: Scope) -> FetchExpression {
    scope.members.isEmpty || chance(30) ? .current : .variable(pick(scope.members).name)
  }

  private mutating func number(_ scope: Scope) -> (FetchExpression, AttributeType?) {
    let types: [AttributeType] = [.int16, .int32, .int64, .double, .boolean, .date]
    guard chance(10) else { return attribute(scope, types) }
    let (condition, decimal) = (predicate(scope, 0), attribute(scope, [.decimal]).0)
    let other: FetchExpression = chance(30) ? .constant(value(of: pick([.int16, .double]))) : attribute(scope, types).0
    return (chance(50) ? .ternary(condition, decimal, other) : .ternary(condition, other, decimal), .decimal)
  }

  /// A path to an attribute or a to-one relationship.
  private mutating func attribute(_ scope: Scope, _ types: [AttributeType]) -> (FetchExpression, AttributeType?) {
    var (start, entity) = (FetchExpression.current, scope.entity)
    if !scope.members.isEmpty, chance(70) {
      let member = pick(scope.members)
      (start, entity) = (.variable(member.name), member.entity)
    }
    var keys: [String] = []
    while chance(25), keys.count < 3 {
      let toOne = entity.relationships.filter { !$0.isToMany }
      guard !toOne.isEmpty else { break }
      let relationship = pick(toOne)
      keys.append(relationship.name)
      entity = model.destination(of: relationship)
      if types.isEmpty, chance(20) { return (.path(of: start, keys), nil) }
    }
    let attributes = entity.attributes.filter { types.isEmpty || types.contains($0.type) }
    guard !attributes.isEmpty else { return (.constant(value(of: types.first ?? .int16)), types.first ?? .int16) }
    let attribute = pick(attributes)
    return (.path(of: start, keys + [attribute.name]), attribute.type)
  }

  /// A path that leads over a to-many relationship, to objects or to their values.
  private mutating func manyPath(_ scope: Scope) -> (FetchExpression, AttributeType?)? {
    guard let (path, entity) = collection(scope, 1) else { return nil }
    guard case .path(let root, let keys) = path else { return (path, nil) }
    if chance(25) || entity.attributes.isEmpty { return (path, nil) }
    let attribute = pick(entity.attributes)
    return (.path(of: root, keys + [attribute.name]), attribute.type)
  }

  private mutating func collection(_ scope: Scope, _ depth: Int) -> (FetchExpression, Entity)? {
    let start = chance(70) ? scope.entity : scope.members.last?.entity ?? scope.entity
    let root: FetchExpression = start === scope.entity ? .current : .variable(scope.members.last?.name ?? "")
    var (keys, entity) = ([String](), start)
    if chance(30), let toOne = entity.relationships.filter({ !$0.isToMany }).randomElement(using: &random) {
      keys.append(toOne.name)
      entity = model.destination(of: toOne)
    }
    repeat {
      guard let toMany = entity.relationships.filter(\.isToMany).randomElement(using: &random) else { break }
      keys.append(toMany.name)
      entity = model.destination(of: toMany)
    } while chance(25) && keys.count < 3
    guard !keys.isEmpty, keys.count > 1 || start.relationship(named: keys[0])?.isToMany == true else { return nil }
    if keys.count == 1 || start.relationship(named: keys[0])?.isToMany == true || entity !== start, depth > 0, chance(30) {
      var inner = scope
      let name = "v\(scope.members.count)"
      inner.members.append((name, entity))
      return (.subquery(.path(of: root, keys), variable: name, where: predicate(inner, depth - 1)), entity)
    }
    return (.path(of: root, keys), entity)
  }
}
