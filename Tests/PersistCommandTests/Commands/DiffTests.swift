import Foundation
import PersistTestSupport
import Testing

@Suite("persist diff")
struct DiffTests {
  @Test("Differences fail a build if requested: of any kind, a loss, a copy, or an impossible migration")
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

  @Test("A version selects one of several models; without it, they are listed")
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

  @Test("A loss is found even if nothing is called removed: an entity is removed, and its heir lacks its properties")
  func hiddenLoss() throws {
    try withTemporaryFolder { folder in
      func write(_ version: String, _ cat: String) throws -> String {
        let model = folder.appendingPathComponent("\(version).xcdatamodel")
        try FileManager.default.createDirectory(at: model, withIntermediateDirectories: true)
        let text = "<model documentVersion=\"1.0\"><entity name=\"Animal\"/>\(cat)</model>"
        try text.write(to: model.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        return model.path
      }
      let name = "<attribute name=\"name\" optional=\"YES\" attributeType=\"String\"/>"
      let old = try write(
        "Old",
        """
        <entity name="Pet" parentEntity="Animal" isAbstract="YES">\(name)</entity>\
        <entity name="Cat" parentEntity="Pet"/>
        """)
      let new = try write("New", "<entity name=\"Cat\" parentEntity=\"Animal\"/>")
      let store = folder.appendingPathComponent("Cats.sqlite").path
      try #expect(Command.run("fill", store, "--models", old, "--rows", "20").status == 0)
      let outcome = try Command.run("diff", old, new, "--fail-on", "loss")
      #expect(outcome.status == 3)
      #expect(outcome.output.contains("Cat.name: attribute removed"))
      let plan = try Command.run("plan", store, "--models", new).output
      #expect(plan.contains("Cat.name: attribute removed, "))
    }
  }
}
