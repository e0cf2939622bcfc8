import PersistTestSupport
import Testing

@Suite("What the compiler says of declarations", .needsCompiler)
struct ClassSnippetTests {
  @Test(
    "The compiler takes right declarations, and refuses wrong ones with a sentence",
    arguments: Snippet.all(in: "Classes"))
  func snippet(_ snippet: Snippet) throws {
    let compiler = try #require(SnippetCompiler.shared)
    #expect(try snippet.mismatches(compiledBy: compiler) == [])
  }

  @Test("There are snippets that must be refused, and such that must be taken")
  func bothKinds() throws {
    let expected = try Snippet.all(in: "Classes").map { try $0.expectedErrors().count }
    #expect(expected.contains { $0 > 0 } && expected.contains(0))
  }
}
