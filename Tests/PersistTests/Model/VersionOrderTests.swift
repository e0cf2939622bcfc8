import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("The order of versions")
struct VersionOrderTests {
  private func order(_ names: [String], identifiers: [String] = [], family: String = "Model") -> VersionOrder {
    VersionOrder(
      names: names, identifiers: identifiers.isEmpty ? names.map { _ in [] } : identifiers.map { [$0] }, family: family)
  }

  @Test("Numeric identifiers that all versions have take precedence over names")
  func identifiers() {
    let order = order(["zeta", "alpha", "omega", "beta"], identifiers: ["1", "2", "10", "2.1"])
    #expect(order.evidence == .identifiers)
    #expect(order.precedes(0, 1) == true)
    #expect(order.precedes(2, 3) == false)
    #expect(order.between(0, 2) == [1, 3])
    #expect(order.between(2, 0) == [3, 1])
  }

  @Test("Identifiers that some versions lack, share or write in words don't determine the order", arguments: [
    ["1", ""], ["1", "1"], ["1", "two"], ["1.", "2"],
  ])
  func otherIdentifiers(_ identifiers: [String]) {
    #expect(order(["V2", "V1"], identifiers: identifiers).evidence == .names)
    #expect(order(["V2", "V1"], identifiers: identifiers).precedes(0, 1) == false)
  }

  @Test("Names of one series are compared in natural order, whatever separates the number")
  func series() {
    let order = order(["V 9", "V10", "v-11", "V_12"])
    #expect(order.between(0, 3) == [1, 2])
    for (first, second) in [("M", "M 2"), ("M 1.9", "M 1.10"), ("2019-01-02", "2019-01-10"), ("007", "8")] {
      #expect(self.order([first, second]).precedes(0, 1) == true, "\(first) before \(second)")
      #expect(self.order([second, first]).precedes(0, 1) == false, "\(second) after \(first)")
    }
  }

  @Test("Names of no series have no order; the one named like the family is the first")
  func noSeries() {
    let order = order(["Draft", "Final", "Model", "Final 2"])
    #expect(order.precedes(0, 1) == nil)
    #expect(order.precedes(1, 3) == true)
    #expect(order.precedes(2, 0) == true)
    #expect(order.precedes(3, 2) == false)
    #expect(order.between(0, 3) == [])
  }

  @Test("Mapping models lead from earlier to later versions; a cycle doesn't determine the order")
  func steps() {
    let names = ["Draft", "Final", "Last"]
    func order(_ steps: [(from: Int, to: Int)]) -> VersionOrder {
      VersionOrder(names: names, identifiers: names.map { _ in [] }, family: "Model", steps: steps)
    }
    #expect(order([(1, 0), (0, 2)]).between(1, 2) == [0])
    #expect(order([(1, 0), (0, 2)]).precedes(2, 1) == false)
    #expect(order([(1, 0), (0, 1)]).precedes(0, 1) == nil)
  }

  @Test("Versions that only a third one relates come in its order", arguments: 0..<40)
  func partialOrder(seed: Int) {
    var numbers = SeededRandom(seed: UInt64(seed))
    let names = ["Model", "Draft", "Model 2", "Final", "Model 3", "Model 4", "Model 5"].shuffled(using: &numbers)
    func place(_ name: String) -> Int { names.firstIndex(of: name) ?? 0 }
    let steps = [
      ("Model", "Model 2"), ("Model 3", "Draft"), ("Draft", "Model 4"), ("Model 4", "Model 5"), ("Model 2", "Final"),
      ("Final", "Model 5"),
    ].map { (from: place($0), to: place($1)) }
    let order = VersionOrder(names: names, identifiers: names.map { _ in [] }, family: "Model", steps: steps)
    let between = order.between(place("Model"), place("Model 5"))
    #expect(Set(between).count == 5)
    for (index, earlier) in between.enumerated() {
      for later in between[(index + 1)...] { #expect(order.precedes(later, earlier) != true, "\(names), \(between)") }
    }
  }
}
