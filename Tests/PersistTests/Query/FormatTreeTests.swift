import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// Trees of format strings.
@Suite("Format strings become trees")
struct FormatTreeTests {
  private func predicate(_ format: String, _ arguments: (any FetchArgument)?...) throws -> FetchPredicate {
    try FetchPredicate(format, arguments: arguments)
  }

  private func expression(_ format: String) throws -> FetchExpression { try FetchExpression(format) }

  @Test("A comparison has a key path, an operator and a constant (PRE-01)")
  func comparison() throws {
    #expect(try predicate("available = true") == .compare(.key("available"), .equal, .value(true)))
    #expect(try predicate("available == 1") == .compare(.key("available"), .equal, .value(1)))
    let operators: [String: FetchPredicate.Operator] = [
      "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, ">": .greater, "<=": .lessOrEqual,
      "=<": .lessOrEqual, ">=": .greaterOrEqual, "=>": .greaterOrEqual, "contains": .contains, "in": .in,
      "BEGINSWITH": .beginsWith, "EndsWith": .endsWith, "like": .like, "MATCHES": .matches, "between": .between,
    ]
    for (text, operation) in operators {
      #expect(try predicate("a \(text) b") == .compare(.key("a"), operation, .key("b")))
    }
  }

  @Test("Constants keep the type of their literal (PRE-02)")
  func constants() throws {
    #expect(try expression("1") == .constant(.integer(1)))
    #expect(try expression("1.0") == .constant(.double(1)))
    #expect(try expression("'string'") == .constant(.string("string")))
    #expect(try expression("\"string\"") == .constant(.string("string")))
    #expect(try expression("nil") == .constant(.null))
    #expect(try expression("NULL") == .constant(.null))
    #expect(try expression("0xFF") == .constant(.integer(255)))
    #expect(try expression("0b101") == .constant(.integer(5)))
    #expect(try expression("0o17") == .constant(.integer(15)))
    #expect(try expression("0xFFFFFFFFFFFFFFFF") == .constant(.decimal(Decimal(UInt64.max))))
    #expect(try expression("-9223372036854775808") == .constant(.integer(.min)))
    #expect(try expression("9223372036854775808") == .constant(.decimal(Decimal(UInt64(Int64.max) + 1))))
    #expect(try expression("'2026-01-01'") == .constant(.string("2026-01-01")))
    #expect(try expression("'\\u00e9\\n\\'\\\\ \\w'") == .constant(.string("é\n'\\ \\w")))
    #expect(try expression("'\\uD83D\\uDE00'") == .constant(.string("😀")))
    #expect(try expression("CAST(1.5, 'NSDate')") == .value(Date(timeIntervalSinceReferenceDate: 1.5)))
  }

  @Test("A list as an argument is one operand (PRE-02)")
  func list() throws {
    #expect(try predicate("value in %@", [1, 2]) == .compare(.key("value"), .in, .value([1, 2])))
    #expect(try predicate("value in {1, 2}") == predicate("value IN %@", [1, 2]))
    #expect(try predicate("value BETWEEN %@", 1...5) == predicate("value BETWEEN {1, 5}"))
  }

  @Test("Several ANDs become one conjunction, parenthesized parts remain separate (PRE-04)")
  func flattening() throws {
    let parts = try ["a", "b", "c", "d"].map { try predicate("\($0) == 1") }
    #expect(try predicate("(a == 1)") == parts[0])
    #expect(try predicate("a == 1 or (b == 1 and c == 1)") == .or([parts[0], .and([parts[1], parts[2]])]))
    #expect(
      try predicate("a == 1 and b == 1 and c == 1 and d == 1 and (a == 1 or b == 1)")
        == .and(parts + [.or([parts[0], parts[1]])]))
    #expect(try predicate("(a == 1 and b == 1) and c == 1") == .and([.and([parts[0], parts[1]]), parts[2]]))
    #expect(
      try predicate("a == 1 or b == 1 and c == 1 or d == 1")
        == .or([parts[0], .and([parts[1], parts[2]]), parts[3]]))
    #expect(try predicate("not a == 1 and b == 1") == .and([.not(parts[0]), parts[1]]))
    #expect(try expression("cashDesk.identifier") == .path(of: .current, ["cashDesk", "identifier"]))
  }

  @Test("Operators become functions (PRE-05)")
  func operators() throws {
    #expect(
      try predicate("(key & 1) > 0")
        == .compare(.function(.bitwiseAnd, [.key("key"), .value(1)]), .greater, .value(0)))
    #expect(FetchFunction.bitwiseAnd.rawValue == "bitwiseAnd:with:")
    #expect(FetchFunction.bitwiseOr.rawValue == "bitwiseOr:with:")
    #expect(FetchFunction.bitwiseXor.rawValue == "bitwiseXor:with:")
    #expect(try expression("a | b") == .function(.bitwiseOr, [.key("a"), .key("b")]))
    #expect(try expression("a ^ b") == .function(.bitwiseXor, [.key("a"), .key("b")]))
    #expect(
      try expression("4 + 5 - 2**3")
        == .function(
          .subtract, [.function(.add, [.value(4), .value(5)]), .function(.power, [.value(2), .value(3)])]))
    #expect(try expression("-a") == .function(.negate, [.key("a")]))
    #expect(try expression("abs(x)") == expression("abs:(x)"))
    #expect(try expression("-2") == .value(-2))
  }

  @Test("ANY, SOME, ALL and NONE apply to one comparison")
  func modifiers() throws {
    let any = FetchPredicate.compare(.key("tags.name"), .equal, .value("x"), modifier: .any)
    #expect(try predicate("ANY tags.name == 'x'") == any)
    #expect(try predicate("SOME tags.name == 'x'") == any)
    #expect(try predicate("NONE tags.name == 'x'") == .not(any))
    #expect(
      try predicate("ALL tags.name == 'x' AND a == 1")
        == .and([.compare(.key("tags.name"), .equal, .value("x"), modifier: .all), predicate("a == 1")]))
  }

  @Test("Options can be in any order, with or without a space")
  func options() throws {
    for text in ["==[cd]", "== [cd]", "==[dc]", "=[CD]", "==[ cd ]"] {
      #expect(
        try predicate("name \(text) 'x'")
          == .compare(.key("name"), .equal, .value("x"), options: [.caseInsensitive, .diacriticInsensitive]))
    }
  }

  @Test("%K and %@ take a key and a value as arguments, in order or by number (PRE-22)")
  func placeholders() throws {
    #expect(try predicate("%K == %@", "owner.name", "Ada") == predicate("owner.name == 'Ada'"))
    #expect(try predicate("%K == %@ AND %K > %@", "name", "a", "counter", 1) == predicate("name=='a'&&counter>1"))
    #expect(try predicate("counter==1 AND(name=='a')") == predicate("counter == 1 AND name == 'a'"))
    #expect(try predicate("counter==1||counter==2") == predicate("counter == 1 OR counter == 2"))
    #expect(try predicate("name == alias") == .compare(.key("name"), .equal, .key("alias")))
    #expect(try predicate("%2$K == %1$@", "Ada", "name") == predicate("name == 'Ada'"))
    #expect(try predicate("ANY %K.name == %@", "tags", "x") == predicate("ANY tags.name == 'x'"))
    #expect(try predicate("items.@sum.%K > %d", "price", 5) == predicate("items.@sum.price > 5"))
    #expect(try predicate("%K > 0", "items.@count") == predicate("items.@count > 0"))
    #expect(try predicate("%K == 1", "in") == predicate("#in == 1"))
    #expect(
      try predicate("a == %d AND b == %lu AND c == %lld", 1, UInt(2), Int64(3))
        == predicate("a == 1 AND b == 2 AND c == 3"))
    #expect(try predicate("a == %f", 1) == predicate("a == 1.0"))
    #expect(try predicate("a > %.2f AND b == %02d", 1.5, 7) == predicate("a > 1.5 AND b == 7"))
    #expect(try predicate("a == %@", nil) == predicate("a == nil"))
    #expect(try predicate("a == %@", Int?.none) == predicate("a == nil"))
    #expect(try predicate("a == %d", true) == predicate("a == 1"))
    #expect(try predicate("name == '%@'") == .compare(.key("name"), .equal, .value("%@")))
    #expect(try predicate("name IN %@", Set(["a"])) == predicate("name IN {'a'}"))
    #expect(try predicate("a == %@", try FetchExpression("b + 1")) == predicate("a == b + 1"))
    #expect(try predicate("a == %@", UInt64.max) == predicate("a == 18446744073709551615"))
    #expect(try predicate("a %% 2 == 0") == .compare(.function(.modulus, [.key("a"), .value(2)]), .equal, .value(0)))
  }

  @Test("An argument's text is never parsed as part of the format")
  func argumentsAreValues() throws {
    for attack in ["' OR 1 == 1", "x\" OR TRUEPREDICATE OR name == \"", "%@", "$x", "\\", "nil", "a\u{0}b"] {
      let tree = try predicate("name == %@", attack)
      #expect(tree == .compare(.key("name"), .equal, .constant(.string(attack))))
      #expect(try FetchPredicate(tree.format) == tree)
      let key = try predicate("%K == 1", "k" + attack.replacing(".", with: ""))
      #expect(try FetchPredicate(key.format) == key)
    }
  }

  @Test("A subquery binds its variable; others are free until they are substituted")
  func variables() throws {
    let tree = try predicate("SUBQUERY(cars, $car, $car.maker == $maker).@count > $count")
    #expect(tree.variables == ["maker", "count"])
    let done = tree.substituting(["maker": "FIAT", "count": 2, "car": 5])
    #expect(try done == predicate("SUBQUERY(cars, $car, $car.maker == 'FIAT').@count > 2"))
    #expect(done.variables == [])
    #expect(try predicate("$a.b == 1").substituting(["a": FetchExpression.key("c.d")]) == predicate("c.d.b == 1"))
  }

  @Test("A variable of a substituted expression stays free within a subquery that binds the same name")
  func capture() throws {
    let tree = try predicate("SUBQUERY(cars, $car, $car.price > $limit AND $car_ == 1).@count > 0")
    let done = tree.substituting(["limit": try FetchExpression("$car.price")])
    #expect(done.variables == ["car", "car_"])
    #expect(try done == predicate("SUBQUERY(cars, $car__, $car__.price > $car.price AND $car_ == 1).@count > 0"))
    let nested = try predicate(
      "SUBQUERY(cars, $a, SUBQUERY($a.parts, $a_, $a_.price > $a.price + $limit).@count > 0).@count > 0")
    let renamed = nested.substituting(["limit": try FetchExpression("$a.limit")])
    #expect(
      try renamed
        == predicate(
          "SUBQUERY(cars, $a_, SUBQUERY($a_.parts, $a__, $a__.price > $a_.price + $a.limit).@count > 0).@count > 0"))
  }

  @Test("Predicates combine with &&, || and !")
  func combining() throws {
    let (a, b, c) = try (predicate("a == 1"), predicate("b == 1"), predicate("c == 1"))
    #expect((a && b && c) == .and([a, b, c]))
    #expect(((a || b) && !c) == .and([.or([a, b]), .not(c)]))
  }
}
