import Foundation
import Testing

@testable import Persist

@Suite("Texts of errors")
struct ErrorTextTests {
  @Test("Advice that several errors in a row share is printed once, behind the last of them")
  func repeatedAdvice() {
    let losses = ["a", "b", "c"].map { name in
      MigrationBlocker(refusing: MigrationLoss(entity: "Item", property: name, what: "attribute removed", rows: 2))
    }
    let other = MigrationBlocker(what: "Something else stands in the way.", fix: "Move it.")
    let plan = MigrationPlan(from: "1", to: "2", way: .impossible, blockers: losses + [other])
    for text in [plan.description, plan.error?.description ?? ""] {
      #expect(text.components(separatedBy: "Allow the loss").count == 2)
      for name in ["a", "b", "c"] { #expect(text.contains("Item.\(name): attribute removed, 2 rows would be lost.")) }
      #expect(text.contains("Move it."))
      let advice = text.range(of: "Allow the loss")?.lowerBound
      let last = text.range(of: "Item.c")?.lowerBound
      #expect(advice.flatMap { advice in last.map { $0 < advice } } == true)
    }
    #expect(plan.error?.errors.allSatisfy { $0.fix != nil } == true)
  }
}
