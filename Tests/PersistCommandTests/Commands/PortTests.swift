import Foundation
import PersistTestSupport
import Testing

@Suite("persist port")
struct PortTests {
  /// Runs a body with a copy of an example as a package of its own.
  private func withPackage(_ example: String, _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let sources = folder.appendingPathComponent("Sources")
      try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        at: PackageFolder.url.appendingPathComponent("Examples/\(example)"), to: sources.appendingPathComponent("App"))
      try "// swift-tools-version: 6.1\nimport PackageDescription\n\nlet package = Package(name: \"App\")\n"
        .write(to: folder.appendingPathComponent("Package.swift"), atomically: true, encoding: .utf8)
      try body(folder)
    }
  }

  private static let examples = ["ReadingList", "CoreDataNotes/Notes", "CoreDataLibrary/Library"]

  private func texts(_ folder: URL) throws -> [String: String] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
    return try Dictionary(uniqueKeysWithValues: names.map { name in
      (name, try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8))
    })
  }

  @Test("Nothing is left over in packages in the usual styles, and --check changes nothing", arguments: examples)
  func check(example: String) throws {
    try withPackage(example) { folder in
      let before = try texts(folder)
      let outcome = try Command.run("port", folder.path, "--check", "--json")
      #expect(outcome.status == 0, "\(outcome.messages)")
      #expect((try outcome.json()["findings"] as? [Any])?.isEmpty == true)
      #expect(try texts(folder) == before)
    }
  }

  @Test("Sources are edited in place, generated classes are written beside their model, and again nothing changes")
  func inPlace() throws {
    try withPackage("CoreDataNotes/Notes") { folder in
      #expect(try Command.run("port", folder.path).status == 0)
      let after = try texts(folder)
      let generated = try #require(after["Sources/App/Resources/Notes+CoreDataClasses.swift"])
      #expect(generated.contains("public class Note: Item"))
      #expect(generated.contains("override func awakeFromInsert()"))
      #expect(after["Sources/App/Sources/Note+Helpers.swift"]?.contains("#keyPath") == false)
      #expect(try Command.run("port", folder.path).status == 0)
      #expect(try texts(folder) == after)
    }
  }

  @Test("The manifest gets one paragraph, however often a package is set up", arguments: examples)
  func setUp(example: String) throws {
    try withPackage(example) { folder in
      let before = try texts(folder)
      for _ in 0..<2 { #expect(try Command.run("port", folder.path, "--init").status == 0) }
      let after = try texts(folder)
      let manifest = try #require(after["Package.swift"])
      #expect(manifest.components(separatedBy: "persist port --init").count == 2)
      #expect(manifest.contains("case \"App\":"))
      #expect(manifest.contains(".xcdatamodeld"))
      for (name, text) in before where name != "Package.swift" { #expect(after[name] == text) }
    }
  }

  @Test("What isn't covered is listed with its line and ends with status 3")
  func findings() throws {
    try withTemporaryFolder { folder in
      try "import CoreData\n\nlet container = NSPersistentCloudKitContainer(name: \"App\")\n"
        .write(to: folder.appendingPathComponent("App.swift"), atomically: true, encoding: .utf8)
      let outcome = try Command.run("port", folder.path, "--check")
      #expect(outcome.status == 3)
      #expect(outcome.output.contains("CloudKit"))
      #expect(outcome.output.contains("App.swift:3"))
    }
  }

  @Test("Folders that can't be set up or checked are errors that say why")
  func wrongFolders() throws {
    try withTemporaryFolder { folder in
      func messages(_ arguments: String...) throws -> String {
        let outcome = try Command.run(["port"] + arguments)
        #expect(outcome.status != 0)
        return outcome.messages
      }
      #expect(try messages(folder.appendingPathComponent("none").path, "--check").contains("no such folder"))
      #expect(try messages(folder.path, "--init").contains("has no Package.swift"))
      #expect(try messages(folder.path, "--init", "--check").contains("one of them"))
      let manifest = folder.appendingPathComponent("Package.swift")
      let broken = "// swift-tools-version: 5.9\nimport PackageDescription\nlet package = Package(name: \"App\"\n"
      try broken.write(to: manifest, atomically: true, encoding: .utf8)
      #expect(try messages(folder.path, "--init").contains("Package.swift:"))
      #expect(try String(contentsOf: manifest, encoding: .utf8) == broken)
    }
  }

  @Test("A malformed model is an error that names its file")
  func malformed() throws {
    try withTemporaryFolder { folder in
      let version = folder.appendingPathComponent("A.xcdatamodel")
      try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
      try "<model><entity name=".write(
        to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
      let outcome = try Command.run("port", folder.path, "--check")
      #expect(outcome.status != 0)
      #expect(outcome.messages.contains("A.xcdatamodel"))
    }
  }
}
