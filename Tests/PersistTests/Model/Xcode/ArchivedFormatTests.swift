import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Archived expressions and predicates as text")
struct ArchivedFormatTests {
  private let archive = ArchiveBuilder()

  /// Returns the text, which the parser must also accept.
  private func expression(_ root: PropertyList) throws -> String {
    let text = try ArchivedFormat.expression(fromArchive: archive.data(root: root), place: .unknown)
    _ = try FormatParser.expression(text)
    return text
  }

  private func predicate(_ root: PropertyList) throws -> String {
    let text = try ArchivedFormat().predicate(KeyedArchive(archive.archive(root: root), place: .unknown).root())
    _ = try FormatParser.predicate(text)
    return text
  }

  @Test("Key paths, variables and constants")
  func simple() throws {
    #expect(try expression(archive.selfExpression) == "SELF")
    #expect(try expression(archive.keyPath("articles.@count")) == "articles.@count")
    #expect(try expression(archive.keyPath("a.size.b")) == "a.#size.b")
    #expect(try expression(archive.keyPath("a.b", of: archive.variable("source"))) == "$source.a.b")
    #expect(try expression(archive.constant(archive.text("a \"b\"\n"))) == #""a \"b\"\n""#)
    #expect(try expression(archive.constant(archive.add(.real(1.5)))) == "1.5")
    #expect(try expression(archive.constant(archive.add(.boolean(true)))) == "YES")
    #expect(try expression(archive.constant(ArchiveBuilder.null)) == "nil")
    let date = archive.object("NSDate", ["NS.time": .real(10)])
    #expect(try expression(archive.constant(date)) == #"CAST(10.0, "NSDate")"#)
    let list = archive.list([archive.add(.integer(1)), archive.text("x")])
    #expect(try expression(archive.constant(list)) == #"{1, "x"}"#)
    #expect(
      try expression(archive.object("NSAggregateExpression", ["NSCollection": archive.list([archive.keyPath("a")])]))
        == "{a}")
  }

  @Test("Functions, arithmetic and messages")
  func functions() throws {
    let name = archive.keyPath("name")
    #expect(try expression(archive.function("now", [])) == "now()")
    #expect(try expression(archive.function("canonical:", [name])) == "canonical:(name)")
    let sum = archive.function("add:to:", [archive.keyPath("a"), archive.constant(archive.add(.integer(1)))])
    #expect(try expression(archive.function("multiply:by:", [sum, archive.keyPath("b")])) == "(a + 1) * b")
    let message = archive.function(
      "destinationInstancesForEntityMappingNamed:sourceInstances:",
      [archive.constant(archive.text("AToB")), archive.keyPath("r", of: archive.variable("source"))],
      of: archive.variable("manager"))
    #expect(
      try expression(message)
        == #"FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "AToB", $source.r)"#)
  }

  @Test("Comparisons with options and modifiers, and their combinations")
  func predicates() throws {
    let one = archive.comparison(archive.keyPath("name"), 99, archive.constant(archive.text("tea")), options: 3)
    let two = archive.comparison(
      archive.keyPath("tags.name"), 4, archive.variable("TAG"), modifier: 2)
    #expect(try predicate(one) == #"name CONTAINS[cd] "tea""#)
    #expect(try predicate(two) == "ANY tags.name == $TAG")
    let either = archive.compound(2, [one, two])
    #expect(try predicate(either) == #"name CONTAINS[cd] "tea" OR ANY tags.name == $TAG"#)
    let not = archive.compound(0, [two])
    #expect(
      try predicate(archive.compound(1, [either, not]))
        == #"(name CONTAINS[cd] "tea" OR ANY tags.name == $TAG) AND (NOT (ANY tags.name == $TAG))"#)
    #expect(try predicate(archive.compound(1, [])) == "TRUEPREDICATE")
    #expect(try predicate(archive.object("NSFalsePredicate")) == "FALSEPREDICATE")
  }

  @Test("Subqueries, conditions, sets and fetches")
  func composed() throws {
    let isRed = archive.comparison(
      archive.keyPath("colour", of: archive.variable("x")), 4, archive.constant(archive.text("red")))
    let subquery = archive.object(
      "NSSubqueryExpression",
      ["NSExpression": archive.keyPath("cars"), "NSVariable": archive.text("x"), "NSPredicate": isRed])
    #expect(try expression(subquery) == #"SUBQUERY(cars, $x, $x.colour == "red")"#)
    let count = archive.keyPath("@count", of: subquery)
    #expect(try expression(count) == #"SUBQUERY(cars, $x, $x.colour == "red").@count"#)
    let ternary = archive.object(
      "NSTernaryExpression",
      ["NSPredicate": isRed, "NSTrueExpression": archive.keyPath("a"), "NSFalseExpression": archive.keyPath("b")])
    #expect(try expression(ternary) == #"TERNARY($x.colour == "red", a, b)"#)
  }

  @Test("Every expression of the real mapping models has a text form", .needsSharedData)
  func mappingModels() throws {
    var texts: Set<String> = []
    let folder = try #require(SharedData.folder).appendingPathComponent("coredata")
    for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where path.hasSuffix("xcmapping.xml") {
      let url = folder.appendingPathComponent(path)
      let root = try MarkupReader.root(of: url)
      for attribute in root.children(named: "object").flatMap({ $0.children(named: "attribute") })
      where attribute.attributes["name"] == "valueexpressiondata" {
        let data = try #require(Data(base64Encoded: attribute.text, options: .ignoreUnknownCharacters))
        let text = try ArchivedFormat.expression(fromArchive: data, place: .file(url))
        _ = try FormatParser.expression(text)
        texts.insert(text)
      }
    }
    #expect(texts.contains("$source.continent.numericISO3166Code"))
    #expect(texts.allSatisfy { $0.hasPrefix("$source.") || $0.hasPrefix("FUNCTION($manager, ") })
    #expect(texts.count == 6)
  }

  @Test("A cycle of expressions is refused")
  func circle() throws {
    let list = PropertyList.dictionary([
      "$top": .dictionary(["root": .uid(1)]),
      "$objects": .array([
        .string("$null"),
        .dictionary(["$class": .uid(2), "NSCollection": .uid(1)]),
        .dictionary(["$classname": .string("NSAggregateExpression"), "$classes": .array([])]),
      ]),
    ])
    #expect(throws: PersistenceError.self) {
      try ArchivedFormat.expression(fromArchive: list.binaryData(), place: .unknown)
    }
  }
}
