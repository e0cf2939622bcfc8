import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Identifying a store's model")
struct ModelIdentificationTests {
  private static func model(
    _ identifier: String = "", _ change: (inout EntityDescription) -> Void = { _ in }
  ) throws -> ManagedObjectModel {
    var entity = EntityDescription("Item", attributes: [AttributeDescription("name", .string)])
    change(&entity)
    return try ManagedObjectModel(
      ModelDescription(entities: [entity], versionIdentifiers: identifier.isEmpty ? [] : [identifier]))
  }

  private let noColumns: (ManagedObjectModel) -> [String] = { _ in ["nothing fits"] }

  private func registry(_ versions: [(String, ManagedObjectModel)]) -> ModelRegistry {
    ModelRegistry(versions: versions.map { ModelVersion(name: $0.0, model: $0.1) })
  }

  @Test("Persist's fingerprints have priority")
  func fingerprints() throws {
    let old = try Self.model()
    let new = try Self.model { $0.attributes.append(AttributeDescription("size", .int32)) }
    let evidence = StoreEvidence(
      persistFingerprints: new.fingerprints, embeddedModel: old, schemaDifferences: noColumns)
    let found = try evidence.identify(among: registry([("1", old), ("2", new)]))
    #expect(found.origin == .fingerprint)
    #expect(found.version?.name == "2")
    #expect(found.family?.name == "Model")
  }

  @Test("Core Data's hashes decide if a version has them, even against the structure")
  func hashes() throws {
    let model = try Self.model()
    let registry = ModelRegistry(versions: [
      ModelVersion(name: "1", model: model, coreDataHashes: ["Item": Data([1])]),
      ModelVersion(name: "2", model: model, coreDataHashes: ["Item": Data([2])]),
    ])
    func identify(_ hash: UInt8) throws -> IdentifiedModel {
      try StoreEvidence(coreDataHashes: ["Item": Data([hash])], embeddedModel: model, schemaDifferences: noColumns)
        .identify(among: registry)
    }
    #expect(try identify(1).version?.name == "1")
    #expect(try identify(2).version?.name == "2")
    #expect(try identify(2).origin == .registry)
    #expect(try identify(3).origin == .embedded)
  }

  @Test("An embedded model is compared by structure; a version with different storage doesn't match")
  func structure() throws {
    let versions = [
      ("1", try Self.model()), ("2", try Self.model { $0.attributes[0].isOptional = false }),
      ("3", try Self.model { $0.attributes[0].type = .uri }),
    ]
    for (name, model) in versions {
      let found = try StoreEvidence(embeddedModel: model, schemaDifferences: noColumns)
        .identify(among: registry(versions))
      #expect(found.version?.name == name)
      #expect(found.origin == .registry)
    }
  }

  @Test("Among versions with identical storage, the identifiers decide, then the similarity, then the age")
  func ties() throws {
    let versions = [
      ("1", try Self.model("a")), ("2", try Self.model("b") { $0.attributes[0].defaultValue = .string("x") }),
      ("3", try Self.model("b") { $0.attributes[0].defaultValue = .string("y") }),
      ("4", try Self.model("b") { $0.attributes[0].defaultValue = .string("y") }),
    ]
    func identify(_ identifiers: [String], _ embedded: ManagedObjectModel) throws -> String? {
      try StoreEvidence(versionIdentifiers: identifiers, embeddedModel: embedded, schemaDifferences: noColumns)
        .identify(among: registry(versions)).version?.name
    }
    #expect(try identify(["a"], versions[1].1) == "1")
    #expect(try identify(["b"], versions[1].1) == "2")
    #expect(try identify(["b"], versions[2].1) == "4")
    #expect(try identify([""], versions[0].1) == "1")
  }

  @Test("An embedded model that no version matches is the store's model itself, assigned to the likeliest family")
  func embedded() throws {
    let embedded = try Self.model { $0.attributes.append(AttributeDescription("extra", .date)) }
    let other = try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Other")]))
    let registry = ModelRegistry(families: [
      ModelFamily("A", versions: [ModelVersion(name: "A", model: other)]),
      ModelFamily("B", versions: [ModelVersion(name: "B", model: try Self.model())]),
    ])
    let evidence = StoreEvidence(embeddedModel: embedded, schemaDifferences: { _ in [] })
    let found = try evidence.identify(among: registry)
    #expect(found.origin == .embedded)
    #expect(found.version == nil)
    #expect(found.model === embedded)
    #expect(found.family?.name == "B")
    #expect(try evidence.identify(among: nil).model === embedded)
  }

  @Test("Without an embedded model the columns decide")
  func columns() throws {
    let old = try Self.model()
    let new = try Self.model { $0.attributes.append(AttributeDescription("size", .int32)) }
    let evidence = StoreEvidence(
      coreDataHashes: ["Item": Data([1])],
      schemaDifferences: { $0.entities[0].attributes.count == 1 ? ["Column ZSIZE is unexplained."] : [] })
    let found = try evidence.identify(among: registry([("1", old), ("2", new)]))
    #expect(found.origin == .columns)
    #expect(found.version?.name == "2")
  }

  @Test("If nothing matches, the error names the nearest version and every difference")
  func unknown() throws {
    let near = try Self.model()
    let far = try ManagedObjectModel(
      ModelDescription(entities: ["X", "Y", "Z"].map { EntityDescription($0) }))
    let evidence = StoreEvidence(
      url: URL(fileURLWithPath: "/s.sqlite"),
      schemaDifferences: { Array(repeating: "differs", count: $0.entities.count) })
    let error = try #require(throws: PersistenceError.self) {
      try evidence.identify(among: registry([("near", near), ("far", far)]))
    }
    #expect(error.code == .missingSourceModel)
    #expect(error.message.contains("'near'"))
    #expect(error.errors.map(\.message) == ["differs"])
    #expect(error.place.store?.lastPathComponent == "s.sqlite")
    let nothing = #expect(throws: PersistenceError.self) { try evidence.identify(among: nil) }
    #expect(nothing?.code == .missingSourceModel)
  }

  @Test("A model has no differences from itself, and from others differences in words")
  func words() throws {
    let store = try Self.model { entity in
      entity.attributes.append(AttributeDescription("gone", .date))
      entity.relationships.append(RelationshipDescription("next", to: "Item", inverse: nil))
    }
    let model = try Self.model { entity in
      entity.attributes[0].isOptional = false
      entity.attributes[0].defaultValue = .string("x")
      entity.relationships.append(RelationshipDescription("next", toMany: "Item", inverse: nil, deleteRule: .deny))
      entity.uniquenessConstraints = [["name"]]
    }
    #expect(ModelDifference.between(store: store, model: store).isEmpty)
    #expect(
      ModelDifference.between(store: store, model: model).map { "\($0.weight) \($0)" } == [
        "storage Item: other uniqueness constraints in the model than in the store.",
        "storage Item.gone: an attribute of the store that the model doesn't have.",
        "storage Item.name: optional in the store, required in the model.",
        "detail Item.name: default no value in the store, 'x' in the model.",
        "storage Item.next: to-one in the store, to-many in the model.",
        "detail Item.next: other delete rule in the model than in the store.",
        "detail Item.next: other counts in the model than in the store.",
      ])
  }

  @Test("Composite types are compared by their elements, derivations by their presence")
  func tolerance() throws {
    func model(_ type: String, _ element: AttributeType, derivation: String) throws -> ManagedObjectModel {
      try ManagedObjectModel {
        EntityDescription("E") {
          AttributeDescription("place", .composite, compositeName: type)
          AttributeDescription("count", .int64, derivation: derivation)
        }
        CompositeDescription(type, elements: [AttributeDescription("x", element)])
      }
    }
    let source = try model("Place", .double, derivation: "things.@count")
    #expect(try source.isStoredLike(model("E_place", .double, derivation: "FUNCTION(things, 'count')")))
    #expect(try !source.isStoredLike(model("Place", .float, derivation: "things.@count")))
    #expect(
      try ModelDifference.between(store: source, model: model("Place", .float, derivation: "things.@count"))
        .map(\.description) == ["E.place.x: double in the store, float in the model."])
  }

  @Test("Every embedded model of a real store follows the rules of models", .needsSharedData)
  func realEmbeddedModels() throws {
    for store in storesWithSources.map(\.store) + ["notes/NoteStore-macOS-12-Monterey.sqlite"] {
      _ = try ManagedObjectModel(XcodeModelArchive.model(fromModelCache: modelCache(ofStore: store)))
    }
  }

  @Test("Every real store's embedded model is the version that wrote it, among all models", .needsSharedData)
  func realStores() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url(""))
    for (store, source) in storesWithSources {
      let embedded = try ManagedObjectModel(XcodeModelArchive.model(fromModelCache: modelCache(ofStore: store)))
      let found = try StoreEvidence(embeddedModel: embedded, schemaDifferences: noColumns).identify(among: registry)
      #expect(found.origin == .registry, "\(store)")
      let expected = try SharedData.url(source)
      #expect(
        found.version?.url?.path == expected.path, "\(store): \(found.version?.name ?? "none")")
      #expect(found.version.map { ModelDifference.between(store: embedded, model: $0.model) } == [], "\(store)")
    }
  }

  @Test("Each version of the long real chains is distinguished from the others by its own structure", .needsSharedData)
  func realChains() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("wallet"))
    for version in registry.versions {
      let found = try StoreEvidence(embeddedModel: version.model, schemaDifferences: noColumns)
        .identify(among: registry)
      let model = try #require(found.version?.model)
      #expect(ModelDifference.between(store: version.model, model: model).isEmpty)
    }
  }
}
