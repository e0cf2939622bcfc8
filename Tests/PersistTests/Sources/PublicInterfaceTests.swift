import Foundation
import PersistTestSupport
import Testing

@Suite("The public interface")
struct PublicInterfaceTests {
  /// The names of the package's library products.
  private static let libraries: [String] = {
    let manifest = try? String(contentsOf: PackageFolder.url.appendingPathComponent("Package.swift"), encoding: .utf8)
    return (manifest ?? "").matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) }
  }()

  /// Compilers print declarations differently.
  private static var isCompilerOfBaseline: Bool {
    #if os(Linux) && compiler(>=6.3) && compiler(<6.4)
      true
    #else
      false
    #endif
  }

  @Test(
    "Each library's interface is the one that is recorded in Interfaces", .needsCompiler,
    .enabled(if: isCompilerOfBaseline, "The recorded interfaces are those that Swift 6.3 prints on Linux."),
    arguments: libraries)
  func interface(library: String) throws {
    let compiler = try #require(SnippetCompiler.shared)
    guard compiler.hasModule(library) else {
      print("\(library) isn't built here.")
      return
    }
    let file = PackageFolder.url.appendingPathComponent("Interfaces/\(library).txt")
    let present = try compiler.publicInterface(of: library)
    if ProcessInfo.processInfo.environment["PERSIST_RECORD_INTERFACES"] != nil {
      try Data((present.joined(separator: "\n") + "\n").utf8).write(to: file)
      return
    }
    let recorded = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    let (old, new) = (Set(recorded), Set(present))
    let lines = recorded.filter { !new.contains($0) }.map { "- \($0)" }
      + present.filter { !old.contains($0) }.map { "+ \($0)" }
    #expect(
      lines.isEmpty,
      """
      The public interface of \(library) has changed:
      \(lines.prefix(40).joined(separator: "\n"))
      If it is meant to, run Scripts/record-interfaces, and describe the change in CHANGELOG.md.
      """)
  }

  @Test(
    "Programs import Persist alone, and find the names of its modules in it", .needsCompiler,
    arguments: Snippet.all(in: "Imports"))
  func imports(snippet: Snippet) throws {
    let compiler = try #require(SnippetCompiler.shared)
    #expect(try snippet.mismatches(compiledBy: compiler) == [])
  }
}
