import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("A registry in code")
struct ModelRegistryTests {
  private func version(_ name: String, _ entity: String = "E", identifiers: [String] = []) throws -> ModelVersion {
    let description = ModelDescription(entities: [EntityDescription(entity)], versionIdentifiers: identifiers)
    return ModelVersion(name: name, model: try ManagedObjectModel(description))
  }

  @Test("Versions in code keep their order; the last one is current unless another is specified")
  func order() throws {
    let versions = [try version("new"), try version("a"), try version("b")]
    #expect(ModelRegistry(versions: versions).versions.map(\.name) == ["new", "a", "b"])
    #expect(ModelRegistry(versions: versions).currentVersion.name == "b")
    #expect(ModelRegistry(versions: versions, current: "a").currentVersion.name == "a")
    let numbered = ModelFamily("M", versions: [try version("M 10"), try version("M 2")])
    #expect(numbered.versions.map(\.name) == ["M 2", "M 10"])
  }

  @Test("The version named like its family is the oldest, and the source of a mapping model precedes its destination")
  func age() throws {
    let names = ["A", "A 2", "A 3", "User", "B"]
    let family = ModelFamily("User", versions: try names.map { try version($0) })
    #expect(family.versions.map(\.name) == ["User", "A", "A 2", "A 3", "B"])
    #expect(family.current.name == "B")
    func step(_ source: String, _ destination: String, _ family: String? = nil) -> MappingModelFile {
      MappingModelFile(
        name: "step", url: URL(fileURLWithPath: "/m"), sourceVersion: source, destinationVersion: destination,
        familyName: family)
    }
    let steps = [step("B", "A"), step("A 3", "User", "Other"), step("gone", "A"), step("A", "A")]
    #expect(family.ordered(by: steps).versions.map(\.name) == ["User", "B", "A", "A 2", "A 3"])
    #expect(family.ordered(by: steps).current.name == "B")
    let round = [step("A", "A 2"), step("A 2", "A"), step("A 3", "A 2")]
    #expect(Set(family.ordered(by: round).versions.map(\.name)) == Set(names))
  }

  @Test("A version is found by name, otherwise by identifier")
  func lookup() throws {
    let registry = ModelRegistry(versions: [
      try version("Shop", identifiers: ["1"]), try version("Shop 2", identifiers: ["2"]), try version("1"),
    ])
    #expect(try registry.version(named: "2").name == "Shop 2")
    #expect(try registry.version(named: "1").name == "1")
    let missing = #expect(throws: PersistenceError.self) { try registry.version(named: "9") }
    #expect(missing?.code == .modelNotFound)
    #expect(missing?.fix?.contains("'Shop 2'") == true)
  }

  @Test("A name used by two families is refused, not guessed")
  func ambiguous() throws {
    let registry = ModelRegistry(families: [
      ModelFamily("B", versions: [try version("Model")]), ModelFamily("A", versions: [try version("Model")]),
    ])
    #expect(registry.families.map(\.name) == ["A", "B"])
    #expect(throws: PersistenceError.self) { try registry.version(named: "Model") }
    #expect(try registry.family(named: "B").current.name == "Model")
    #expect(throws: PersistenceError.self) { try registry.family(named: "C") }
  }

  @Test("Adding a version makes it current; one of the same name is replaced in place")
  func adding() throws {
    let registry = ModelRegistry(versions: [try version("1"), try version("2")])
    let more = registry.adding(try version("3"))
    #expect(more.versions.map(\.name) == ["1", "2", "3"])
    #expect(more.currentVersion.name == "3")
    let replaced = more.adding(try version("1", "Other"))
    #expect(replaced.versions.map(\.name) == ["1", "2", "3"])
    #expect(replaced.currentVersion.name == "3")
    #expect(try replaced.version(named: "1").model.entitiesByName["Other"] != nil)
    #expect(registry.adding(try version("x"), to: "New").families.map(\.name) == ["Model", "New"])
    #expect(registry.versions.count == 2)
  }

  @Test("An added version is the newest, and an order guessed from names remains a guess")
  func addingToGuessedOrder() throws {
    let family = ModelFamily("M", versions: [try version("M 2"), try version("M"), try version("M 3")])
    let more = ModelRegistry(families: [family]).adding(try version("A")).families[0]
    #expect(more.versions.map(\.name) == ["M", "M 2", "M 3", "A"])
    #expect(more.current.name == "A" && more.currentName == "A")
    let between = more.versions(between: more.versions[0], and: more.current)
    #expect(between.versions.map(\.name) == ["M 2", "M 3"])
    #expect(!between.isCertain)
    #expect(more.precedes(more.current, more.versions[2]) == false)
  }

  @Test("Mapping models are found by version names, or by hashes, within their family")
  func mappingModels() throws {
    let hashed = (1...2).map { Data([UInt8($0)]) }
    let versions = [
      ModelVersion(name: "M", model: try version("M").model, coreDataHashes: ["E": hashed[0], "F": hashed[0]]),
      ModelVersion(name: "M 2", model: try version("M 2").model, coreDataHashes: ["E": hashed[1]]),
    ]
    let url = URL(fileURLWithPath: "/m")
    func file(_ name: String, _ source: String?, _ destination: String?, _ family: String? = nil) -> MappingModelFile {
      MappingModelFile(
        name: name, url: url, sourceVersion: source, destinationVersion: destination, familyName: family)
    }
    let registry = ModelRegistry(
      versions: versions, family: "Mine",
      mappingModels: [
        file("own", "M", "M 2", "Mine"), file("other", "M", "M 2", "Other"), file("back", "M 2", "M"),
        MappingModelFile(
          name: "compiled", url: url, sourceHashes: ["E": hashed[0]], destinationHashes: ["E": hashed[1]]),
        MappingModelFile(name: "wrong", url: url, sourceHashes: ["E": hashed[1]], destinationHashes: ["E": hashed[1]]),
      ])
    #expect(registry.mappingModels(from: versions[0], to: versions[1]).map(\.name) == ["own", "compiled"])
    #expect(registry.mappingModels(from: versions[1], to: versions[0]).map(\.name) == ["back"])
  }
}
