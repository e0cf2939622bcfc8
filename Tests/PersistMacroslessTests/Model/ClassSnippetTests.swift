import PersistTestSupport
import Testing

@Suite("Compiler diagnostics of declarations", .needsCompiler)
struct ClassSnippetTests {
  @Test(
    "The compiler accepts correct declarations, and rejects wrong ones with a message",
    arguments: Snippet.all(in: "Classes"))
  func snippet(_ snippet: Snippet) throws {
    let compiler = try #require(SnippetCompiler.shared)
    #expect(try snippet.mismatches(compiledBy: compiler) == [])
  }

  @Test("There are snippets that must be rejected, and others that must be accepted")
  func bothKinds() throws {
    let expected = try Snippet.all(in: "Classes").map { try $0.expectedErrors().count }
    #expect(expected.contains { $0 > 0 } && expected.contains(0))
  }
}
