import Foundation
import PersistTestSupport
import Testing

@Suite("persist diff")
struct DiffTests {
  @Test("Differences fail a build where it asks for that: of any kind, a loss, a copy, or what can't be")
  func diff() throws {
    let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path
    func status(_ arguments: String...) throws -> Int32 { try Command.run(["diff", shop] + arguments).status }
    try #expect(status("--from", "Shop", "--to", "Shop 3") == 0)
    try #expect(status("--from", "Shop", "--to", "Shop 3", "--fail-on", "loss") == 3)
    try #expect(status("--from", "Shop", "--to", "Shop 3", "--fail-on", "impossible") == 0)
    try #expect(status("--from", "Shop", "--to", "Shop 3", "--fail-on", "change") == 3)
    try #expect(status("--from", "Shop 2", "--to", "Shop 2", "--fail-on", "change") == 0)
    try #expect(status("--fail-on", "nonsense") == 2)
  }

  @Test("Of several models a version tells which is meant; without one they are named")
  func several() throws {
    try withTemporaryFolder { folder in
      let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld")
      try FileManager.default.copyItem(at: shop, to: folder.appendingPathComponent("Shop.xcdatamodeld"))
      let other = folder.appendingPathComponent("Depot.xcdatamodeld")
      try FileManager.default.createDirectory(at: other, withIntermediateDirectories: true)
      for (old, new) in [("Shop", "Depot"), ("Shop 3", "Depot 2")] {
        try FileManager.default.copyItem(
          at: shop.appendingPathComponent("\(old).xcdatamodel"), to: other.appendingPathComponent("\(new).xcdatamodel"))
      }
      let outcome = try Command.run("diff", folder.path)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains("There are 2 models: Depot, Shop."))
      let diff = try Command.run("diff", folder.path, "--from", "Shop 2", "--json").json()
      #expect(diff["to"] as? String == "Shop 3")
      let back = try Command.run("diff", folder.path, "--to", "Depot 2", "--json").json()
      #expect(back["from"] as? String == "Depot")
    }
  }
}
