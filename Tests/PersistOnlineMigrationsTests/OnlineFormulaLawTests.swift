import Foundation
import PersistOnlineMigrations
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistPostgreSQL

/// The law of computed values: the server's value is that of the same expression in memory, for any numbers, or the
/// statement fails.
@Suite("Laws of values that the server computes", .needsServer)
struct OnlineFormulaLawTests {
  /// An object with numbers of all types.
  private struct Row: KeyedObject {
    let values: [String: StoredValue]

    func fetchValue(forKey key: String) throws -> FetchValue { .value(values[key] ?? .null) }
    var fetchIdentity: StoredValue { .null }
    var fetchEntityName: String? { nil }
  }

  private static let sources: [String: TableMap.ColumnType] = [
    "short": .int16, "medium": .int32, "long": .integer, "real": .float, "other": .float,
  ]
  private static let doubles: [Double] = [
    0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 99.99, 4_503_599_627_370_497.5, 9_007_199_254_740_992, 9.2e18, 9.3e18, -9.3e18,
    0x1p63, -0x1p63, 0x1p63 - 1024, 1e300, -1e300, 1.7976931348623157e308, .leastNonzeroMagnitude,
    .leastNormalMagnitude / 2, 3.4e38, 1e-45, .infinity, -.infinity,
  ]
  private static let longs: [Int64] = [
    0, 1, -1, 7, -7, 60, 9_007_199_254_740_993, 4_611_686_018_427_387_904, .max, .min, .max - 1, 3_000_000_000,
  ]

  private static func row(_ numbers: inout SeededRandom, isOrdinary: Bool) -> Row {
    func real() -> StoredValue {
      if Int.random(in: 0..<8, using: &numbers) == 0 { return .null }
      return isOrdinary
        ? .double(Double(Int.random(in: -100_000...100_000, using: &numbers)) / 64)
        : .double(doubles.randomElement(using: &numbers) ?? 0)
    }
    func whole(_ range: ClosedRange<Int64>) -> StoredValue {
      if Int.random(in: 0..<8, using: &numbers) == 0 { return .null }
      let value = isOrdinary ? Int64.random(in: -200...200, using: &numbers) : longs.randomElement(using: &numbers) ?? 0
      return .integer(min(max(value, range.lowerBound), range.upperBound))
    }
    return Row(values: [
      "short": whole(Int64(Int16.min)...Int64(Int16.max)), "medium": whole(Int64(Int32.min)...Int64(Int32.max)),
      "long": whole(.min ... .max), "real": real(), "other": real(),
    ])
  }

  private static func expression(_ numbers: inout SeededRandom, depth: Int) -> FetchExpression {
    func part() -> FetchExpression { expression(&numbers, depth: depth - 1) }
    let choice = depth == 0 ? Int.random(in: 0...2, using: &numbers) : Int.random(in: 0...11, using: &numbers)
    switch choice {
    case 0: return .path(of: .variable("source"), [sources.keys.sorted().randomElement(using: &numbers) ?? "real"])
    case 1: return .constant(.integer([1, -1, 2, 60, 100, 0].randomElement(using: &numbers) ?? 1))
    case 2: return .constant(.double([100, 0.25, -1.5, 1e10].randomElement(using: &numbers) ?? 1))
    case 3: return .function(.add, [part(), part()])
    case 4: return .function(.subtract, [part(), part()])
    case 5: return .function(.multiply, [part(), part()])
    case 6: return .function(.divide, [part(), part()])
    case 7: return .function(.modulus, [part(), part()])
    case 8:
      let comparison = FetchPredicate.Comparison(left: part(), operation: .equal, right: part())
      return .ternary(.comparison(comparison), part(), part())
    default:
      let functions: [FetchFunction] = [.floor, .ceiling, .truncate, .absolute, .negate]
      return .function(functions.randomElement(using: &numbers) ?? .floor, [part()])
    }
  }

  /// The row as a subquery.
  private static func sql(_ row: Row) -> String {
    let columns = sources.keys.sorted().map { name -> String in
      let type = name == "short" ? "smallint" : name == "medium" ? "integer" : name == "long" ? "bigint" : "float8"
      let value =
        switch row.values[name] {
        case .integer(let number): "'\(number)'"
        case .double(let number): number.isInfinite ? number > 0 ? "'Infinity'" : "'-Infinity'" : "'\(number)'"
        default: "NULL"
        }
      return "\(value)::\(type) AS \(name)"
    }
    return "(SELECT \(columns.joined(separator: ", "))) AS r"
  }

  @Test(
    "The server computes what the evaluator computes, or fails", .law("online-formulas", short: 60, long: 5000))
  func values() throws {
    try OnlineShop.withStore { url in
      let session = try ForeignSQL.Session(url)
      var (served, compared) = (0, 0)
      forEachSeed { seed in
        var numbers = SeededRandom(seed: seed)
        let expression = Self.expression(&numbers, depth: Int.random(in: 1...3, using: &numbers))
        let types: [(AttributeType, TableMap.ColumnType)] = [
          (.int16, .int16), (.int32, .int32), (.int64, .integer), (.double, .float), (.float, .float),
          (.decimal, .decimal),
        ]
        for (type, column) in types {
          let formula = OnlineExpansion.Formula(
            .second, table: "item", column: .init(name: "result", type: column), numbers: [1], expression: expression,
            sources: Self.sources.reduce(into: [:]) { $0[$1.key] = .init(column: $1.key, type: $1.value) },
            standard: .null, isSingle: type == .float, label: "Item.result")
          guard let text = formula?.value(of: "r.") else { continue }
          served += 1
          let attribute = AttributeValue(AttributeDescription("result", type))
          for number in 0..<12 {
            let isOrdinary = number < 4
            let row = Self.row(&numbers, isOrdinary: isOrdinary)
            let place = "seed \(seed), \(expression) as \(type) of \(row.values)"
            let evaluator = ExpressionEvaluator(variables: ["source": .object(row)])
            let computed = try #require(evaluator.value(of: expression, for: .object(row)).stored, "\(place)")
            let expected = attribute.converted(computed)
            let query = "SELECT coalesce((\(text.statement(in: "").text))::text, 'null') FROM \(Self.sql(row))"
            let found = Result { try session.run(query)[0][0] }
            compared += 1
            switch (found, expected) {
            case (.failure, nil): break
            case (.failure(let error), let expected?):
              // An ordinary value always arrives.
              if isOrdinary, !Self.isExtreme(expected) { Issue.record("\(place): \(expected), \(error)") }
            case (.success(let found), nil): Issue.record("\(place): \(found) instead of an error")
            case (.success(let found), let expected?):
              #expect(Self.isEqual(found, expected), "\(place): \(found), expected \(expected)")
            }
          }
        }
      }
      #expect(served > 10 && compared > 100)
    }
  }

  /// Whether a number is out of the range in which the server computes.
  private static func isExtreme(_ value: StoredValue) -> Bool {
    if case .double(let number) = value { !number.isFinite || number == 0 || abs(number) < 1e-37 } else { false }
  }

  private static func isEqual(_ text: String, _ value: StoredValue) -> Bool {
    switch value {
    case .null: text == "null"
    case .integer(let number): text == "\(number)"
    case .double(let number): Double(text) == number
    case .decimal(let number): Decimal(string: text) == number
    default: false
    }
  }
}
