import PersistTestSupport
import Testing

@Suite("Isolation checked by the compiler", .needsCompiler)
struct IsolationTests {
  @Test("The compiler rejects code with races, and accepts code without", arguments: Snippet.all(in: "Isolation"))
  func snippet(_ snippet: Snippet) throws {
    let compiler = try #require(SnippetCompiler.shared)
    #expect(try snippet.mismatches(compiledBy: compiler) == [])
  }

  @Test("There are snippets that must be rejected, and others that must be accepted")
  func bothKinds() throws {
    let expected = try Snippet.all(in: "Isolation").map { try $0.expectedErrors().count }
    #expect(expected.filter { $0 > 0 }.count >= 10 && expected.filter { $0 == 0 }.count >= 3)
  }
}
