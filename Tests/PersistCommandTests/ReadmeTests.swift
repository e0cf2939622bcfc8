import Foundation
import PersistTestSupport
import Testing

@Suite("The README")
struct ReadmeTests {
  @Test(
    "Its code is that of Examples/FirstSteps, which is built and behaves as described",
    .aboutPlainFiles("a program without a key"))
  func code() throws {
    let readme = try String(contentsOf: PackageFolder.url.appendingPathComponent("README.md"), encoding: .utf8)
    let example = try String(
      contentsOf: PackageFolder.url.appendingPathComponent("Examples/FirstSteps/main.swift"), encoding: .utf8)
    #expect(readme.contains("```swift\n\(example)```"))
    try withTemporaryFolder { folder in
      let outcome = try Command.run([], of: "FirstSteps", in: folder)
      #expect(outcome.status == 0)
      #expect(outcome.output == "Tea 1\n")
      try #expect(Command.run("check", folder.appendingPathComponent("Shop.sqlite").path).output == "ok\n")
    }
  }
}
