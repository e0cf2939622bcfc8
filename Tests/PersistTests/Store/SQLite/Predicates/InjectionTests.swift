import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Names and values that would be SQL if they were inserted as text.
@Suite("SQL injection by names and values")
struct InjectionTests {
  private static let attacks = [
    "'; DROP TABLE ZITEM; --", "\" OR 1=1 --", "') OR ('1'='1", "x'); DELETE FROM ZITEM; --", "1; VACUUM", "%", "_",
    "*", "?", "?1", ":name", "@x", "$x", "NULL", "' UNION SELECT Z_PK FROM ZITEM --", "\\'; --", "\u{0}'; --",
    "a\u{0}b", "\"\"", "''", "[x]", "`x`", "/* */", "--", "Z_PK", "sqlite_master", "load_extension('x')",
    "x' COLLATE NOCASE",
  ]

  private static func attribute(_ name: String) -> AttributeDescription { AttributeDescription(name, .string) }

  @Test("Arguments are values, whatever they contain", arguments: attacks)
  func arguments(_ attack: String) throws {
    let model = ModelDescription(entities: [EntityDescription("Item", attributes: [Self.attribute("name")])])
    try withStack(model) { stack in
      let context = stack.context()
      try context.make("Item", ["name": attack])
      try context.make("Item", ["name": "other"])
      // A server's texts can't contain this character.
      guard TestEngine.current == .sqlite || !attack.contains("\u{0}") else {
        #expect(persistError { try context.save() }?.code == .validationRule)
        return
      }
      try context.save()
      let fresh = stack.context()
      for format in ["name == %@", "name IN {%@}", "name BEGINSWITH %@", "name ENDSWITH %@", "name CONTAINS %@",
        "name ==[cd] %@", "name BETWEEN {%@, %@}", "%@ == name", "FUNCTION(name, 'stringByAppendingString:', %@) != ''"]
      {
        let arguments = [any FetchArgument](repeating: attack, count: format.components(separatedBy: "%@").count - 1)
        let request = try request("Item", FetchPredicate(format, arguments: arguments))
        let found = try fresh.fetch(request).compactMap { $0["name"] as? String }
        #expect(found.contains(attack), "\(format)")
        // The same as a literal of the format language, printed and parsed.
        let printed = try request.predicate.map { try FetchPredicate($0.format) }
        #expect(printed == request.predicate)
      }
      #expect(try fresh.count(for: FetchRequest("Item")) == 2)
      #expect(try context.count(for: request("Item", FetchPredicate("name == %@", arguments: [attack]))) == 1)
    }
  }

  @Test("A name passed for %K is a key or an error, and never SQL", arguments: attacks)
  func keys(_ attack: String) throws {
    let model = ModelDescription(entities: [EntityDescription("Item", attributes: [Self.attribute("name")])])
    try withStack(model) { stack in
      let context = stack.context()
      try context.make("Item", ["name": "a"])
      try context.save()
      #expect(throws: PersistenceError.self) {
        try context.fetch(request("Item", FetchPredicate("%K == 'a'", arguments: [attack])))
      }
      #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest("Item", sortedBy: attack)) }
      #expect(throws: PersistenceError.self) { try context.fetch(FetchRequest(attack)) }
      #expect(try context.count(for: FetchRequest("Item")) == 1)
    }
  }

  @Test("A format string that contains SQL is an error or a predicate, and never SQL", arguments: attacks)
  func formats(_ attack: String) throws {
    let model = ModelDescription(entities: [EntityDescription("Item", attributes: [Self.attribute("name")])])
    try withStack(model) { stack in
      let context = stack.context()
      try context.make("Item", ["name": "a"])
      try context.save()
      for format in ["name == 'a' " + attack, "name == " + attack, attack + " == name", "name == 'a" + attack] {
        do {
          _ = try context.fetch(request("Item", FetchPredicate(format)))
        } catch is PersistenceError {}
      }
      #expect(try stack.context().count(for: FetchRequest("Item")) == 1)
    }
  }

  @Test(
    "Names of entities and attributes that a model allows are quoted everywhere",
    arguments: ["select", "ITEM\"; DROP TABLE Z_METADATA; --", "a'b", "x y", "Ünïcode", "order", "a;b", "`q`", "[b]"])
  func names(_ name: String) throws {
    let description = ModelDescription(entities: [
      EntityDescription(
        name, attributes: [Self.attribute(name), AttributeDescription("n", .int32)],
        relationships: [
          RelationshipDescription("up", to: name, inverse: "down"),
          RelationshipDescription("down", toMany: name, inverse: "up"),
          RelationshipDescription("many", toMany: name, inverse: "many"),
        ], indexes: [FetchIndexDescription(name, on: name)])
    ])
    // Names that a model refuses can't reach SQL.
    guard (try? ManagedObjectModel(description)) != nil else { return }
    try withStack(description) { stack in
      let context = stack.context()
      let parent = try context.make(name, [name: "a", "n": 1])
      let child = try context.make(name, [name: "b", "n": 2])
      child["up"] = parent
      child["many"] = [parent]
      try context.save()
      let fresh = stack.context()
      for format in ["%K == 'b'", "%K BEGINSWITH 'b' AND up.%K == 'a'", "%K == 'b' AND ANY many.%K == 'a'"] {
        let arguments = [any FetchArgument](repeating: name, count: format.components(separatedBy: "%K").count - 1)
        var request = try request(name, FetchPredicate(format, arguments: arguments))
        request.sortDescriptors = [.init(name)]
        #expect(try fresh.fetch(request).map { $0["n"] as? Int } == [2], "\(name): \(format)")
      }
      #expect(try fresh.explain(request(name, FetchPredicate("%K == 'b'", arguments: [name]))).statements.count == 1)
    }
  }

  private func request(_ entity: String, _ predicate: FetchPredicate) throws -> FetchRequest<ManagedObject> {
    var request = FetchRequest(entity)
    request.predicate = predicate
    return request
  }
}
