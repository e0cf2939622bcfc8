import Testing

@testable import Persist
@testable import PersistModel

@Suite("Natural order")
struct NaturalOrderTests {
  @Test("Numbers are compared as numbers, wherever they appear")
  func order() {
    let names = [
      "Model", "Model 2", "Model 10", "Model 10 b", "model2", "Model3", "Model 007", "Model 7", "V1.9", "V1.10", "2",
      "10", "Model \(String(repeating: "9", count: 50))", "",
    ]
    #expect(
      NaturalOrder.sorted(names) == [
        "", "2", "10", "Model", "Model 2", "model2", "Model3", "Model 007", "Model 7", "Model 10", "Model 10 b",
        "Model \(String(repeating: "9", count: 50))", "V1.9", "V1.10",
      ])
  }

  @Test("No two different names are equal, and none precedes itself")
  func strict() {
    let names = ["a", "A", "a1", "a01", "a 1", "", "1", "01"]
    for left in names {
      for right in names {
        #expect((NaturalOrder.precedes(left, right) || NaturalOrder.precedes(right, left)) == (left != right))
      }
    }
  }
}
