import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Reading mapping models", .needsSharedData)
struct MappingReaderTests {
  private func read(
    _ path: String, in models: String, from source: String, to destination: String
  ) throws -> MappingModel {
    let registry = try ModelRegistry(contentsOf: SharedData.url(models))
    return try MappingModel(
      contentsOf: SharedData.url(path), from: registry.version(named: source).model,
      to: registry.version(named: destination).model)
  }

  @Test("The source form, with the parts derived from the models, equals the form compiled by Xcode")
  func sourceAndCompiled() throws {
    let models = "cars/Fixtures/SampleModel.momd"
    let source = try read(
      "cars/MappingModels/V2toV3.xcmappingmodel", in: models, from: "SampleModel2", to: "SampleModel3")
    let compiled = try read("cars/Fixtures/V2toV3.cdm", in: models, from: "SampleModel2", to: "SampleModel3")
    #expect(source.entityMappings.map(\.name).sorted() == compiled.entityMappings.map(\.name).sorted())
    for mapping in compiled.entityMappings {
      let other = try #require(source.entityMappingsByName[mapping.name])
      #expect(other.sourceEntityName == mapping.sourceEntityName)
      #expect(other.destinationEntityName == mapping.destinationEntityName)
      #expect(other.policyName == mapping.policyName)
      #expect(other.sourceExpression == mapping.sourceExpression)
      func expressions(_ properties: [PropertyMapping]) -> [String: FetchExpression?] {
        Dictionary(uniqueKeysWithValues: properties.map { ($0.name, $0.valueExpression) })
      }
      #expect(expressions(other.attributeMappings) == expressions(mapping.attributeMappings), "\(mapping.name)")
      #expect(expressions(other.relationshipMappings) == expressions(mapping.relationshipMappings), "\(mapping.name)")
      #expect(mapping.destinationEntityVersionHash?.count == 32)
    }
    #expect(try compiled.entityMapping("Maker").type == .add)
    #expect(try compiled.entityMapping("CarToCar").type == .custom)
    #expect(try [.transform, .copy].contains(compiled.entityMapping("PersonToPerson").type))
  }

  @Test("moody: named mappings, paths with collection operators, values of related objects")
  func moody() throws {
    let models = "moody/Moody.xcdatamodeld"
    let third = try read("moody/Moody 2-Moody 3.xcmappingmodel", in: models, from: "Moody 2", to: "Moody 3")
    #expect(
      third.entityMappingsByName["ContinentToContinent"]?.relationshipMapping(named: "moods")?.valueExpression
        == .destinationInstances(
          ofMapping: "MoodToMood", for: .source("countries.@distinctUnionOfSets.moods")))
    #expect(
      third.entityMappingsByName["MoodToMood"]?.relationshipMapping(named: "continent")?.valueExpression
        == .destinationInstances(ofMapping: "ContinentToContinent", for: .source("country.continent")))
    #expect(try third.entityMapping("MoodToMood").policyName == nil)
    let fifth = try read("moody/Moody 4-Moody 5.xcmappingmodel", in: models, from: "Moody 4", to: "Moody 5")
    #expect(
      fifth.entityMappingsByName["CountryToCountry"]?.attributeMapping(named: "isoContinent")?.valueExpression
        == .source("continent.numericISO3166Code"))
    let sixth = try read("moody/Moody 5-Moody 6.xcmappingmodel", in: models, from: "Moody 5", to: "Moody 6")
    #expect(try sixth.entityMapping("CountryToCountry").policyName == "Migrations.Country5ToCountry6Policy")
    #expect(try sixth.entityMapping("Continent").type == .add)
    #expect(try sixth.entityMapping("MoodToMood").attributeMapping(named: "attribute1") == nil)
  }

  @Test("posts and employees: policies, user info, mappings that add, relationships without a source")
  func policies() throws {
    let posts = try read(
      "posts/Migration/Mappings/Migration2to3ModelMapping.xcmappingmodel", in: "posts/Model",
      from: "CoreDataMigration_Example 2", to: "CoreDataMigration_Example 3")
    #expect(posts.entityMappings.map(\.name) == ["Section", "PostToPost"])
    let post = try posts.entityMapping("PostToPost")
    #expect(post.policyName == "CoreDataMigration_Example.Post2ToPost3MigrationPolicy")
    #expect(try posts.entityMapping("PostToPost").type == .custom)
    #expect(try posts.entityMapping("PostToPost").relationshipMapping(named: "sections")?.valueExpression == nil)
    let employees = try read(
      "employees/Model/MappingModels/MWKCoreDataTestsV2ToV3.xcmappingmodel", in: "employees/Model",
      from: "MWKCoreDataTests2", to: "MWKCoreDataTests3")
    #expect(try employees.entityMapping("EmployeeToEmployee").userInfo == ["destModelVersion": .string("3")])
    let employee = try employees.entityMapping("EmployeeToEmployee")
    #expect(employee.attributeMapping(named: "firstName")?.valueExpression == nil)
    #expect(try employees.entityMapping("DeptToDept").type == .copy)
  }

  @Test("The registry finds and reads the mapping models of a step, by names and by hashes")
  func registry() throws {
    let wallet = try ModelRegistry(contentsOf: SharedData.url("wallet"))
    let found = try wallet.readMappingModels(
      from: wallet.version(named: "UserDataModel"), to: wallet.version(named: "MultiassetUserDataModel"))
    #expect(found.map(\.name) == ["SingleToMultiasset"])
    // The file has three more entity mappings, which the mapping model doesn't name.
    #expect(found.first?.entityMappings.map(\.name) == ["SingleToMultiasset"])
    #expect(
      try found.first?.entityMapping("SingleToMultiasset").attributeMapping(named: "name")?.valueExpression
        == .source("username"))
    let cars = try ModelRegistry(contentsOf: SharedData.url("cars/Fixtures"))
    let compiled = try cars.readMappingModels(
      from: cars.version(named: "SampleModel2"), to: cars.version(named: "SampleModel3"))
    #expect(compiled.map(\.name) == ["V2toV3"])
  }

  @Test("A damaged file is an error with its place, never a crash", .law("mapping-files", short: 200, long: 20_000))
  func damage() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("cars/Fixtures/SampleModel.momd"))
    let (source, destination) = (registry.versions[1].model, registry.versions[2].model)
    let bytes = try Data(contentsOf: SharedData.url("cars/Fixtures/V2toV3.cdm"))
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("damaged.cdm")
      forEachSeed { seed in
        var random = SeededRandom(seed: seed)
        var damaged = bytes
        for _ in 0..<4 {
          damaged[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        try damaged.write(to: url)
        do { _ = try MappingModel(contentsOf: url, from: source, to: destination) } catch let error as PersistenceError {
          #expect(error.place.file != nil || error.code == .invalidPredicate)
        }
      }
    }
  }
}
