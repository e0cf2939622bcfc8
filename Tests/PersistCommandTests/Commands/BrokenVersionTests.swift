import Foundation
import PersistTestSupport
import Testing

@Suite("Commands with an unreadable version")
struct BrokenVersionTests {
  private func write(_ text: String, _ version: String, in models: URL) throws {
    let folder = models.appendingPathComponent("\(version).xcdatamodel")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
  }

  private let good = """
    <model><entity name="Item"><attribute name="name" optional="YES" attributeType="String"/></entity></model>
    """

  @Test("They work with the versions that they need", arguments: ["M", "M 2"])
  func goesOn(broken: String) throws {
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("M.xcdatamodeld")
      let whole = broken == "M" ? "M 2" : "M"
      try write(good, whole, in: models)
      try write("<model><entity/></model>", broken, in: models)
      let store = folder.appendingPathComponent("Store.sqlite").path
      let classes = folder.appendingPathComponent("Classes").path
      for arguments in [
        ["fill", store, "--models", models.path, "--version", whole, "--rows", "3"],
        ["fill", store, "--models", models.path, "--rows", "3"],
        ["inspect", store, "--models", models.path], ["dump", store, "--models", models.path],
        ["generate", models.path, "--output", classes, "--version", whole],
      ] {
        let outcome = try Command.run(arguments)
        #expect(outcome.status == 0, "\(arguments[0]): \(outcome.messages)")
      }
      // Commands that need the unreadable version report the reason.
      let outcome = try Command.run("migrate", store, "--models", models.path, "--to", broken)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains("contents"))
    }
  }

  @Test("Nothing is planned, migrated or locked that an unreadable version or mapping model may affect")
  func refusals() throws {
    for broken in ["M.xcdatamodeld/M 2.xcdatamodel/contents", "M 2-M 3.xcmappingmodel/xcmapping.xml"] {
      try withTemporaryFolder { folder in
        let models = folder.appendingPathComponent("M.xcdatamodeld")
        for (version, attribute, former) in [("M", "a", "a"), ("M 2", "b", "a"), ("M 3", "c", "b")] {
          try write(
            """
            <model><entity name="Item">\
            <attribute name="\(attribute)" optional="YES" attributeType="String" elementID="\(former)"/>\
            </entity></model>
            """, version, in: models)
        }
        let store = folder.appendingPathComponent("Store.sqlite").path
        try #expect(Command.run("fill", store, "--models", models.path, "--version", "M", "--rows", "3").status == 0)
        let file = folder.appendingPathComponent(broken)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data("<broken".utf8).write(to: file)
        for (arguments, status) in [
          (["plan", store, "--models", folder.path], 3), (["migrate", store, "--models", folder.path], 1),
          (["lock", folder.path], 1), (["lock", folder.path, "--json"], 1),
          (["diff", folder.path, "--from", "M"], 0), (["inspect", store, "--models", folder.path], 0),
        ] as [([String], Int32)] {
          let outcome = try Command.run(arguments)
          #expect(outcome.status == status, "\(arguments): \(outcome.messages)")
          let name = file.deletingLastPathComponent().lastPathComponent
          #expect((outcome.output + outcome.messages).contains(name), "\(arguments)")
        }
        let inspected = try Command.run("inspect", store, "--models", folder.path, "--json").json()
        #expect((inspected["store"] as? NSDictionary)?["version"] as? String == "M")
        #expect(!FileManager.default.fileExists(atPath: folder.appendingPathComponent("models.lock").path))
      }
    }
  }

  @Test("A store isn't migrated to a similar model because its own can't be read")
  func similarModel() throws {
    try withTemporaryFolder { folder in
      let own = folder.appendingPathComponent("M.xcdatamodeld")
      let other = folder.appendingPathComponent("N.xcdatamodeld")
      try write(good, "M", in: own)
      let store = folder.appendingPathComponent("Store.sqlite").path
      try #expect(Command.run("fill", store, "--models", own.path, "--rows", "3").status == 0)
      try write("<broken", "M", in: own)
      try write(good.replacing("name=\"name\"", with: "name=\"title\""), "N", in: other)
      let before = try Command.run("dump", store).output
      let outcome = try Command.run("migrate", store, "--models", folder.path)
      #expect(outcome.status == 1)
      #expect(outcome.messages.contains("M.xcdatamodel"))
      try #expect(Command.run("dump", store).output == before)
    }
  }
}
