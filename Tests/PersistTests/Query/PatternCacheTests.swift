import Testing

@testable import Persist
@testable import PersistModel

@Suite("Compiled patterns")
struct PatternCacheTests {
  @Test("A pattern is compiled once, and once more after others have displaced it")
  func compiledOnce() {
    var cache = PatternCache<String>()
    var compiled: [String] = []
    func use(_ pattern: String, _ options: FetchPredicate.Options = []) {
      _ = cache.pattern(pattern, options) {
        compiled.append(pattern)
        return pattern
      }
    }
    for _ in 0..<2 {
      use("a")
      use("a", .caseInsensitive)
      // Different patterns, although Swift considers the texts equal.
      use("\u{e9}")
      use("e\u{301}")
    }
    #expect(compiled.count == 4 && cache.count == 4)
    for number in 0..<2000 {
      use("\(number)")
      #expect(cache.count <= cache.limit)
    }
    #expect(compiled.count == 2004)
    use("1999")
    #expect(compiled.count == 2004)
    use("a")
    #expect(compiled.count == 2005)
  }

  @Test("Many patterns that are used in turn are compiled once, and one in use stays while others come and go")
  func inTurn() {
    var cache = PatternCache<Int>()
    var compiledCount = 0
    func use(_ number: Int) {
      _ = cache.pattern("\(number)", []) {
        compiledCount += 1
        return number
      }
    }
    for _ in 0..<3 {
      for number in 0..<500 { use(number) }
    }
    #expect(compiledCount == 500)
    for number in 1000..<5000 {
      use(number)
      use(0)
    }
    #expect(compiledCount == 4500 && cache.count <= cache.limit)
  }

  @Test("An evaluator that meets many patterns doesn't retain them all")
  func evaluator() throws {
    let evaluator = ExpressionEvaluator()
    for number in 0..<2000 {
      for operation in [FetchPredicate.Operator.like, .matches] {
        let predicate = FetchPredicate.compare(.current, operation, .constant(.string("tea\(number)")))
        try #expect(evaluator.matches(predicate, .value(.string("tea7"))) == (number == 7))
      }
    }
    #expect(evaluator.wildcards.count <= evaluator.wildcards.limit && evaluator.wildcards.count > 0)
    #expect(evaluator.expressions.count <= evaluator.expressions.limit && evaluator.expressions.count > 0)
  }
}
