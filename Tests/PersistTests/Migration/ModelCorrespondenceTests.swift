import Testing

@testable import Persist
@testable import PersistModel

@Suite("Origins of properties")
struct ModelCorrespondenceTests {
  private func item(_ attributes: AttributeDescription...) throws -> ManagedObjectModel {
    try model(EntityDescription("Item", attributes: attributes))
  }

  private func text(_ name: String, was identifier: String? = nil, default value: StoredValue = .null)
    -> AttributeDescription
  {
    AttributeDescription(name, .string, default: value, renamingIdentifier: identifier)
  }

  private func sources(_ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> [String: String] {
    try ModelCorrespondence(from: old, to: new).properties["Item"]?.compactMapValues(\.source) ?? [:]
  }

  @Test("An identifier names the old attribute, or its former name")
  func identifiers() throws {
    let first = try item(text("a"))
    let second = try item(text("b", was: "a"))
    let canonical = try item(text("c", was: "a"))
    let stepwise = try item(text("c", was: "b"))
    #expect(try sources(first, second) == ["b": "a"])
    #expect(try sources(second, canonical) == ["c": "b"])
    #expect(try sources(second, stepwise) == ["c": "b"])
    #expect(try sources(first, canonical) == ["c": "a"])
    #expect(try sources(second, first) == ["a": "b"])
  }

  @Test("An attribute that reuses a freed name is new, and later versions know it")
  func freedName() throws {
    let first = try item(text("a"))
    let second = try item(text("a"), text("b", was: "a"))
    #expect(try sources(first, second) == ["b": "a"])
    #expect(try sources(second, second) == ["a": "a", "b": "b"])
    #expect(try sources(second, item(text("a"), text("c", was: "a"))) == ["a": "a", "c": "b"])
    #expect(try sources(second, item(text("a"), text("b"))) == ["a": "a", "b": "b"])
  }

  @Test("Two attributes can exchange their names")
  func swap() throws {
    #expect(
      try sources(item(text("a"), text("b")), item(text("a", was: "b"), text("b", was: "a"))) == ["a": "b", "b": "a"])
  }

  @Test("An identifier added later doesn't claim another attribute's values")
  func lateIdentifier() throws {
    #expect(try sources(item(text("a"), text("b")), item(text("a"), text("b", was: "a"))) == ["a": "a", "b": "b"])
  }

  @Test("An identifier doesn't claim an attribute that its entity keeps for one of another entity of the hierarchy")
  func otherOwner() throws {
    func family(root: [AttributeDescription], left: [AttributeDescription], right: [AttributeDescription] = []) throws
      -> ManagedObjectModel
    {
      try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Root", attributes: root), EntityDescription("Left", parent: "Root", attributes: left),
          EntityDescription("Leaf", parent: "Left"), EntityDescription("Right", parent: "Root", attributes: right),
        ]))
    }
    let renamed = text("b", was: "a")
    let keeping = try family(root: [renamed], left: [text("a")])
    for old in [text("a"), renamed] {
      let found = try ModelCorrespondence(from: family(root: [], left: [text("a")], right: [old]), to: keeping)
      for entity in ["Left", "Leaf"] {
        #expect(found.properties[entity]?.mapValues(\.source) == ["a": "a", "b": nil], "\(old.name)")
      }
      #expect(found.properties["Right"]?.mapValues(\.source) == ["b": old.name])
    }
    let below = try ModelCorrespondence(
      from: family(root: [text("a")], left: []), to: family(root: [text("a")], left: [renamed]))
    #expect(below.properties["Leaf"]?.mapValues(\.source) == ["a": "a", "b": nil])
    // The same identifier becomes unnecessary in the version in which the other entity gets an attribute of that name.
    let (before, after) = try (
      family(root: [], left: [renamed]), family(root: [text("a")], left: [text("b")])
    )
    for (old, new) in [(before, after), (after, before)] {
      #expect(try ModelCorrespondence(from: old, to: new).properties["Leaf"]?["b"]?.source == "b")
    }
    // Attributes of different entities exchange their names.
    let exchanged = try ModelCorrespondence(
      from: family(root: [text("a")], left: [text("b")]),
      to: family(root: [], left: [renamed, text("a", was: "b")]))
    #expect(exchanged.properties["Leaf"]?.mapValues(\.source) == ["a": "b", "b": "a"])
    // If no attribute is called so any longer, all were renamed.
    let joined = try ModelCorrespondence(
      from: family(root: [], left: [text("a")], right: [text("a")]), to: family(root: [renamed], left: []))
    #expect(joined.properties["Left"]?.mapValues(\.source) == ["b": "a"])
  }

  @Test("Two attributes with one identifier are refused, with a fix")
  func ambiguity() throws {
    let old = try item(text("name"))
    let new = try item(text("title", was: "name"), text("label", was: "name"))
    let error = #expect(throws: PersistenceError.self) { try ModelCorrespondence(from: old, to: new) }
    #expect(error?.code == .mappingAmbiguous)
    #expect(error?.message == "2 attributes of Item take their values from 'name': label, title.")
    #expect(error?.fix == "Keep the renaming identifier 'name' on one of them.")
  }

  @Test("A chain keeps the first default, forgets removed properties, and follows names through skipped versions")
  func composition() throws {
    let versions = [
      try item(text("a"), text("x")),
      try item(text("b", was: "a"), text("new", default: .string("2"))),
      try item(text("c", was: "b"), text("new", default: .string("3")), text("x")),
    ]
    let chain = try ModelCorrespondence(from: versions[0], to: versions[1])
      .followed(by: ModelCorrespondence(from: versions[1], to: versions[2]))
    #expect(chain.properties["Item"]?["c"] == .init(source: "a", fill: nil))
    #expect(chain.properties["Item"]?["new"] == .init(source: nil, fill: .string("2")))
    #expect(chain.properties["Item"]?["x"] == .init(source: nil, fill: nil))
  }

  @Test("A model corresponds to itself without a change")
  func identity() throws {
    let versions = [try item(text("a"), text("b", was: "a")), try item(text("b", was: "a"), text("c", was: "b"))]
    for version in versions {
      #expect(try ModelCorrespondence(from: version, to: version) == .identity(of: version))
    }
  }
}

extension ModelCorrespondence {
  /// The correspondence of a model with itself: every property is its own origin.
  fileprivate static func identity(of model: ManagedObjectModel) -> ModelCorrespondence {
    var same = ModelCorrespondence()
    for entity in model.entities {
      same.entities[entity.name] = entity.name
      for property in entity.properties where property.fetchedProperty == nil {
        let source = property.isTransient && property.attribute != nil ? nil : property.name
        same.properties[entity.name, default: [:]][property.name] = Origin(source: source, fill: nil)
      }
    }
    return same
  }
}
