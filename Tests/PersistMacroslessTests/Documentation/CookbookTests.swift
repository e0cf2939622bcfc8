import Foundation
import PersistTestSupport
import Testing

/// The programs of the cookbook are built and run as a reader would.
@Suite("The cookbook")
struct CookbookTests {
  @Test(
    "Each recipe compiles without a warning and prints what the article shows", .needsCompiler,
    .aboutPlainFiles("programs without keys"), .withoutSanitizedLinking, arguments: Recipe.all)
  func runs(recipe: Recipe) throws {
    let compiler = try #require(SnippetCompiler.shared)
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("main.swift")
      try Data(recipe.code.utf8).write(to: source)
      let program = folder.appendingPathComponent("Recipe")
      #expect(try compiler.build([source], into: program) == [])
      #expect(try TestRun.output(of: program, in: folder) == recipe.output)
    }
  }

  @Test("The guide's mapping model is that of a recipe, line by line")
  func mappingRecipe() throws {
    let guide = PackageFolder.url.appendingPathComponent("Sources/Persist/Persist.docc/Migrating.md")
    let block = try #require(
      Page(url: guide).blocks().first { $0.contains("MappingModel.inferred") }, "The guide has such a block.")
    let recipe = try #require(Recipe.all.first { $0.name == "Compute values with a mapping model" })
    let lines = recipe.code.split(separator: "\n")
    for line in block.split(separator: "\n") { #expect(lines.contains(line), "\(line)") }
  }

  @Test("The README's migration is that of a recipe, line by line")
  func readme() throws {
    let page = Page(url: PackageFolder.url.appendingPathComponent("README.md"))
    let block = try #require(page.blocks().first { $0.contains("StagedMigration") }, "The README has such a block.")
    let recipe = try #require(Recipe.all.first { $0.name == "Split an attribute" })
    let lines = recipe.code.split(separator: "\n")
    for line in block.split(separator: "\n") { #expect(lines.contains(line), "\(line)") }
  }

  @Test("There are at least thirty recipes, each with a name of its own, and other pages know how many")
  func count() throws {
    #expect(Recipe.all.count >= 30)
    #expect(Set(Recipe.all.map(\.name)).count == Recipe.all.count)
    for (page, words) in [("README.md", "complete programs"), ("Examples/README.md", "tasks")] {
      let text = try String(contentsOf: PackageFolder.url.appendingPathComponent(page), encoding: .utf8)
      #expect(text.contains(" \(Recipe.all.count) \(words)"), "\(page)")
    }
  }
}

/// A program of the article with the output that it claims.
struct Recipe: Sendable, CustomTestStringConvertible {
  static let article = PackageFolder.url.appendingPathComponent("Sources/Persist/Persist.docc/Cookbook.md")

  let name: String
  let code: String
  let output: String

  var testDescription: String { name }

  static let all: [Recipe] = {
    let text = (try? String(contentsOf: article, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "\n### ").dropFirst().compactMap { section in
      guard let code = section.firstMatch(of: /\n```swift\n((?s).*?\n)```\n/),
        let output = section.firstMatch(of: /\n```output\n((?s).*?\n)```\n/)
      else { return nil }
      return Recipe(
        name: String(section.prefix { $0 != "\n" }), code: String(code.1), output: String(output.1))
    }
  }()
}
