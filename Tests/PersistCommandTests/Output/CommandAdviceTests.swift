import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistCommand

@Suite("Advice for users of the command")
struct CommandAdviceTests {
  @Test("Advice about the library's API is replaced, in combined errors too")
  func replaced() {
    let inner = PersistenceError(.storeBusy, "Busy.", fix: "Try again, or set a longer busyTimeout.")
    let outer = PersistenceError(
      .storeExchanged, "Replaced.",
      fix: "Remove it from the coordinator, and open the store that is now in its place. Unsaved changes are still in "
        + "the context.", errors: [inner])
    #expect(outer.advisingCommand.fix == "Run the command again.")
    #expect(outer.advisingCommand.errors.first?.fix == "Try again.")
  }

  @Test("The library gives every advice that is replaced")
  func sources() throws {
    var missing = Set(CommandAdvice.replacements.map { $0.library })
    for library in ["Persist", "PersistPostgreSQL", "PersistSQLMigrations", "PersistTools"] {
      let folder = PackageFolder.url.appendingPathComponent("Sources/\(library)")
      for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix(".swift") {
        let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
        missing = missing.filter { !text.contains($0) }
      }
    }
    #expect(missing.isEmpty)
  }

  @Test("An edited SQL file can be accepted with a command")
  func accept() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("1_a.sql")
      try Data("CREATE TABLE a (x);".utf8).write(to: file)
      let call = [folder.appendingPathComponent("a.db").path, "--files", folder.path]
      try #expect(Command.run(["sql", "migrate"] + call).status == 0)
      try Data("CREATE TABLE a (y);".utf8).write(to: file)
      try #expect(Command.run(["sql", "migrate"] + call).messages.contains("`persist sql accept`"))
      let status = try Command.run(["sql", "status"] + call)
      #expect(status.status == 3 && status.messages.contains("`persist sql accept`"), "\(status.messages)")
    }
  }
}
