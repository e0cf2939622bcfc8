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
}
