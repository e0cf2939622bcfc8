import Testing

@testable import Persist
@testable import PersistModel

@Suite("Parts of predicates and expressions")
struct ExpressionPartsTests {
  /// An expression of each kind that can't be written in every sample.
  private static let expressions = [
    "SUBQUERY(cars, $car, $car.maker == $maker AND $car.year > now()).@count", "TERNARY(a > 1, b + 1, c)",
    "FUNCTION(a, 'b:c:', d, 1)", "rows[i + 1][LAST]", "{1, {a, 2}, $x}",
  ]

  @Test("Unchanged parts make an equal predicate", arguments: FormatSamples.all)
  func samePredicate(_ format: String) throws {
    let predicate = try FetchPredicate(format)
    var sides: [FetchExpression] = []
    #expect(
      predicate.withSides { side in
        sides.append(side)
        return side.rewritten { $0 }
      } == predicate)
    #expect(sides == predicate.sides)
  }

  @Test("Each part is replaced in its place", arguments: expressions)
  func places(_ format: String) throws {
    let expression = try FetchExpression(format)
    let parts = expression.parts
    #expect(!parts.isEmpty)
    #expect(expression.withParts { $0 } == expression)
    for place in parts.indices {
      let mark = FetchExpression.constant(.string("part \(place)"))
      var index = -1
      let changed = expression.withParts { part in
        index += 1
        return index == place ? mark : part
      }
      #expect(changed != expression)
      #expect(changed.parts.count == parts.count)
      for (other, part) in changed.parts.enumerated() where other != place { #expect(part == parts[other]) }
    }
  }
}
