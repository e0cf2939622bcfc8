import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("A registry from files")
struct ModelRegistryFilesTests {
  private static let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld")

  private func write(_ text: String, to url: URL) throws {
    try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: url)
  }

  private func writeModel(_ entity: String, to url: URL) throws {
    try write("<model><entity name=\"\(entity)\"/></model>", to: url.appendingPathComponent("contents"))
  }

  private func writeCurrent(_ name: String, in folder: URL) throws {
    try write(
      "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict></plist>",
      to: folder.appendingPathComponent(".xccurrentversion"))
  }

  @Test("An .xcdatamodeld is one family; .xccurrentversion says which version is current")
  func family() throws {
    let registry = try ModelRegistry(contentsOf: Self.shop)
    #expect(registry.families.map(\.name) == ["Shop"])
    #expect(registry.versions.map(\.name) == ["Shop", "Shop 2", "Shop 3"])
    #expect(registry.currentVersion.name == "Shop 3")
    #expect(registry.problems.isEmpty)
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("M.xcdatamodeld")
      for name in ["M", "M 2", "M 10"] { try writeModel("E", to: models.appendingPathComponent("\(name).xcdatamodel")) }
      #expect(try ModelRegistry(contentsOf: models).currentVersion.name == "M 10")
      try writeCurrent("M 2.xcdatamodel", in: models)
      #expect(try ModelRegistry(contentsOf: models).currentVersion.name == "M 2")
      #expect(try ModelRegistry(contentsOf: models).versions.map(\.name) == ["M", "M 2", "M 10"])
    }
  }

  @Test("A model read from an .xcdatamodeld is its current version, even if the other versions can't be read")
  func currentModel() throws {
    #expect(
      try ManagedObjectModel(contentsOf: Self.shop).description
        == ModelRegistry(contentsOf: Self.shop).current.description)
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("M.xcdatamodeld")
      try writeModel("Old", to: models.appendingPathComponent("M.xcdatamodel"))
      try write("nothing", to: models.appendingPathComponent("M 2.xcdatamodel/contents"))
      try writeCurrent("M.xcdatamodel", in: models)
      #expect(try ManagedObjectModel(contentsOf: models).entities.map(\.name) == ["Old"])
      try writeCurrent("M 2.xcdatamodel", in: models)
      #expect(throws: PersistenceError.self) { try ManagedObjectModel(contentsOf: models) }
    }
  }

  @Test("A single version is a registry too, named by folder, contents or JSON")
  func single() throws {
    let version = Self.shop.appendingPathComponent("Shop 2.xcdatamodel")
    #expect(try ModelRegistry(contentsOf: version).versions.map(\.name) == ["Shop 2"])
    #expect(try ModelRegistry(contentsOf: version.appendingPathComponent("contents")).currentVersion.name == "Shop 2")
    try withTemporaryFolder { folder in
      let model = try ModelRegistry(contentsOf: version).current
      let file = folder.appendingPathComponent("Shop 2.json")
      try Data(model.description.json.utf8).write(to: file)
      #expect(try ModelRegistry(contentsOf: file).current.fingerprints == model.fingerprints)
      #expect(try ManagedObjectModel(contentsOf: file).description == model.description)
    }
  }

  @Test("A folder is searched recursively; hidden files, links to folders and other JSON files are ignored")
  func search() throws {
    try withTemporaryFolder { folder in
      let files = FileManager.default
      try writeModel("A", to: folder.appendingPathComponent("a/b/One.xcdatamodeld/One.xcdatamodel"))
      try writeModel("B", to: folder.appendingPathComponent("a/Two.xcdatamodel"))
      try writeModel("B", to: folder.appendingPathComponent("a/.build/Hidden.xcdatamodel"))
      try write("{\"colour\": 1}", to: folder.appendingPathComponent("a/package.json"))
      for name in ["Shop 9", "Shop 10"] {
        let json = ModelDescription(entities: [EntityDescription("C")]).json
        try write(json, to: folder.appendingPathComponent("json/\(name).json"))
      }
      try files.createSymbolicLink(
        at: folder.appendingPathComponent("a/b/round"), withDestinationURL: folder.appendingPathComponent("a"))
      let registry = try ModelRegistry(contentsOf: folder)
      #expect(registry.families.map(\.name) == ["One", "Shop", "Two"])
      #expect(try registry.family(named: "Shop").versions.map(\.name) == ["Shop 9", "Shop 10"])
    }
  }

  @Test("In a searched folder, a broken version hides no other one; a broken current version hides its family")
  func broken() throws {
    try withTemporaryFolder { folder in
      let models = folder.appendingPathComponent("M.xcdatamodeld")
      for name in ["M", "M 2", "M 3"] { try writeModel("E", to: models.appendingPathComponent("\(name).xcdatamodel")) }
      try write("<model><entity/></model>", to: models.appendingPathComponent("M 2.xcdatamodel/contents"))
      let registry = try ModelRegistry(contentsOf: folder)
      #expect(registry.versions.map(\.name) == ["M", "M 3"])
      #expect(registry.problems.map(\.place.file?.lastPathComponent) == ["contents"])
      // The same applies to a model that is named itself.
      let named = try ModelRegistry(contentsOf: models)
      #expect(named.versions.map(\.name) == ["M", "M 3"])
      #expect(named.families[0].versionNames == ["M", "M 2", "M 3"])
      #expect(named.problems.count == 1)
      #expect(#expect(throws: PersistenceError.self) { try named.version(named: "M 2") }?.place.file != nil)

      try write("<model><entity name=\"\"/></model>", to: models.appendingPathComponent("M 3.xcdatamodel/contents"))
      for url in [folder, models] {
        let error = #expect(throws: PersistenceError.self) { try ModelRegistry(contentsOf: url) }
        #expect(error?.place.file != nil)
        let rest = try ModelRegistry(contentsOf: url, needsCurrent: false)
        #expect(rest.currentVersion.name == "M")
        #expect(rest.problems.count == 2)
      }
    }
  }

  @Test("Problems of a model's content name its file")
  func invalid() throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("M.xcdatamodel")
      try write(
        "<model><entity name=\"E\" parentEntity=\"P\"/><entity name=\"E\"/></model>",
        to: url.appendingPathComponent("contents"))
      let error = #expect(throws: PersistenceError.self) { try ModelRegistry(contentsOf: url) }
      #expect(error?.code == .invalidModel)
      #expect(error?.errors.count == 2)
      #expect(error?.errors.allSatisfy { $0.place.file?.lastPathComponent == "M.xcdatamodel" } == true)
    }
  }

  @Test("A missing file, an empty folder, another file and too large a folder are refused")
  func refused() throws {
    try withTemporaryFolder { folder in
      #expect(throws: PersistenceError.self) { try ModelRegistry(contentsOf: folder.appendingPathComponent("none")) }
      let empty = #expect(throws: PersistenceError.self) { try ModelRegistry(contentsOf: folder) }
      #expect(empty?.code == .modelNotFound)
      try write("x", to: folder.appendingPathComponent("a.txt"))
      #expect(throws: PersistenceError.self) { try ModelRegistry(contentsOf: folder.appendingPathComponent("a.txt")) }
      try write("x", to: folder.appendingPathComponent("M.xcdatamodeld/readme"))
      #expect(throws: PersistenceError.self) { try ModelRegistry(contentsOf: folder) }
      #expect(throws: PersistenceError.self) { try ModelFiles(at: folder, limits: .init(entries: 1)) }
      try write("x", to: folder.appendingPathComponent("1/2/3/x"))
      let deep = #expect(throws: PersistenceError.self) { try ModelFiles(at: folder, limits: .init(depth: 1)) }
      #expect(deep?.code == .limitExceeded)
    }
  }

  @Test("Source and compiled form of a model are one family, with Core Data's hashes", .needsSharedData)
  func merged() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("cars"))
    #expect(registry.families.map(\.name) == ["SampleModel"])
    #expect(registry.versions.map(\.name) == ["SampleModel", "SampleModel2", "SampleModel3"])
    #expect(registry.versions.allSatisfy { $0.url?.pathExtension == "xcdatamodel" })
    for version in registry.versions {
      #expect(Set(try #require(version.coreDataHashes).keys) == Set(version.model.entitiesByName.keys))
    }
    #expect(registry.problems.isEmpty)
    let (second, third) = (try registry.version(named: "SampleModel2"), try registry.version(named: "SampleModel3"))
    // The source names the versions, the compiled form their hashes.
    let forms = registry.mappingModels(from: second, to: third).map(\.url.pathExtension)
    #expect(forms.sorted() == ["cdm", "xcmappingmodel"])
    #expect(registry.mappingModels(from: try registry.version(named: "SampleModel"), to: third).isEmpty)
    let compiled = try ModelRegistry(contentsOf: SharedData.url("cars/Fixtures/SampleModel.momd"))
    #expect(compiled.versions.map(\.name) == registry.versions.map(\.name))
    #expect(compiled.currentVersion.name == "SampleModel")
  }

  @Test("Copies of one model are one family; different models of one name stay separate")
  func copies() throws {
    try withTemporaryFolder { folder in
      for copy in ["a", "b"] {
        try writeModel("E", to: folder.appendingPathComponent("\(copy)/M.xcdatamodeld/M.xcdatamodel"))
      }
      #expect(try ModelRegistry(contentsOf: folder).families.map(\.versions.count) == [1])
      try writeModel("F", to: folder.appendingPathComponent("c/M.xcdatamodeld/M.xcdatamodel"))
      #expect(try ModelRegistry(contentsOf: folder).families.map(\.name) == ["M", "M"])
    }
  }

  @Test("Every real model and mapping model is found, with its step", .needsSharedData)
  func everything() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url(""))
    #expect(registry.problems.isEmpty)
    #expect(registry.versions.count == SharedData.modelContents.count)
    #expect(
      registry.families.map { "\($0.name) \($0.versions.count) \($0.current.name)" } == [
        "BookmarksModel 6 BookmarksModel 6", "CoreDataMigration_Example 4 CoreDataMigration_Example 4",
        "Moody 6 Moody 6", "MWKCoreDataTests 3 MWKCoreDataTests", "SampleModel 3 SampleModel",
        "SubstrateDataModel 39 SubstrateDataModel39", "Test 1 Test", "UserDataModel 21 MultiassetUserDataModel20",
      ])
    for mapping in registry.mappingModels where mapping.url.pathExtension == "xcmappingmodel" {
      let family = try registry.family(named: #require(mapping.familyName))
      let source = try #require(mapping.sourceVersion.flatMap(family.version))
      let destination = try #require(mapping.destinationVersion.flatMap(family.version))
      #expect(registry.mappingModels(from: source, to: destination).contains(mapping))
    }
    #expect(registry.mappingModels.count == 9)
    let wallet = try registry.family(named: "UserDataModel").versions.map(\.name)
    #expect(wallet.prefix(2) == ["UserDataModel", "MultiassetUserDataModel"])
  }
}
