import Foundation
import PersistTestSupport
import Testing

@Suite("persist migrate to an older version and back")
struct ParkingCommandTests {
  private let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path

  private func run(_ arguments: String...) throws -> Command.Outcome {
    let outcome = try Command.run(arguments)
    #expect(outcome.status == 0, "\(arguments): \(outcome.messages)")
    return outcome
  }

  private func withShop(_ body: (_ store: String, _ before: String) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try run("fill", store, "--models", shop, "--rows", "40")
      try body(store, run("dump", store, "--json").output)
    }
  }

  @Test("Values are parked and restored; the plan lists them with rows, and the store is as before", arguments: [
    "Shop", "Shop 2",
  ])
  func downAndUp(_ version: String) throws {
    try withShop { store, before in
      let plan = try run("plan", store, "--models", shop, "--to", version, "--json").json()
      let parked = try #require(plan["parked"] as? [NSDictionary])
      #expect(parked.contains { $0["entity"] as? String == "Review" && $0["rows"] as? Int == 40 })
      #expect((plan["losses"] as? [Any])?.isEmpty == true)
      let down = try run("migrate", store, "--models", shop, "--to", version, "--json").json()
      #expect((down["parked"] as? Int ?? 0) > 100)
      try #expect(run("dump", store, "--json").output != before)
      try #expect(run("plan", store, "--models", shop).output.contains("restored:\n"))
      let up = try run("migrate", store, "--models", shop, "--json").json()
      #expect(up["restored"] as? Int == down["parked"] as? Int)
      try #expect(run("dump", store, "--json").output == before)
      _ = try run("check", store, "--models", shop)
    }
  }

  @Test("With --discard, nothing is parked: losses have to be allowed, and what was parked is deleted")
  func discard() throws {
    try withShop { store, before in
      let refused = try Command.run("migrate", store, "--models", shop, "--to", "Shop", "--discard")
      #expect(refused.status == 1, "\(refused.messages)")
      try #expect(run("dump", store, "--json").output == before)
      _ = try run("migrate", store, "--models", shop, "--to", "Shop")
      let copied = try Command.run("migrate", store, "--models", shop, "--copy")
      #expect(copied.status == 1 && copied.messages.contains("parked values of 'Shop 3'"))
      let up = try run("migrate", store, "--models", shop, "--discard", "--allow-loss", "--json").json()
      #expect(up["restored"] == nil)
      try #expect(run("count", store, "Review").output == "0\n")
    }
  }
}
