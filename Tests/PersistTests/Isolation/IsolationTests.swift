import PersistTestSupport
import Testing

@Suite("Isolation that the compiler checks", .needsCompiler)
struct IsolationTests {
  @Test("The compiler refuses what would race, and takes what wouldn't", arguments: Snippet.all(in: "Isolation"))
  func snippet(_ snippet: Snippet) throws {
    let compiler = try #require(SnippetCompiler.shared)
    #expect(try snippet.mismatches(compiledBy: compiler) == [])
  }

  @Test("There are snippets that must be refused, and such that must be taken")
  func bothKinds() throws {
    let expected = try Snippet.all(in: "Isolation").map { try $0.expectedErrors().count }
    #expect(expected.filter { $0 > 0 }.count >= 10 && expected.filter { $0 == 0 }.count >= 3)
  }
}
