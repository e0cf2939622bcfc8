import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

final class Post2ToPost3MigrationPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource post: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: post, in: mapping, manager: manager)
    let copy = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [post])
    let content = post["content"] as? String ?? ""
    let section = try manager.destinationContext.create("Section")
    section["title"] = String(content.prefix(4)) + "..."
    section["body"] = content
    section["index"] = 0
    section["post"] = copy.first
  }
}

final class Country5ToCountry6Policy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource country: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: country, in: mapping, manager: manager)
    guard let code = country["isoContinent"] as? Int else { return }
    let copy = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [country]).first
    let context = manager.destinationContext
    let known = try context.fetch(FetchRequest("Continent", where: "numericISO3166Code == %@", code)).first
    let continent = try known ?? context.create("Continent")
    continent["numericISO3166Code"] = code
    copy?["continent"] = continent
  }
}

final class EmployeeToEmployeePolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource employee: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    #expect(mapping.userInfo["destModelVersion"] == .string("3"))
    try super.createDestinationInstances(forSource: employee, in: mapping, manager: manager)
    let copy = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [employee]).first
    let words = (employee["name"] as? String ?? "").split(separator: " ")
    copy?["firstName"] = words.first.map(String.init) ?? ""
    copy?["lastName"] = words.dropFirst().joined(separator: " ")
  }
}

final class V2to3MakerPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource car: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: car, in: mapping, manager: manager)
    guard let name = car["maker"] as? String else { return }
    var makers = manager.userInfo["makers"] as? [String: ManagedObject] ?? [:]
    let maker = try makers[name] ?? manager.destinationContext.create("Maker")
    maker["name"] = name
    makers[name] = maker
    manager.userInfo["makers"] = makers
    let copy = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [car]).first
    copy?["createdBy"] = maker
  }
}

@Suite("Mapping models and policies on real stores", .needsSharedData)
struct RealMappingTests {
  static let policies: MigrationPolicies = [
    Post2ToPost3MigrationPolicy.self, Country5ToCountry6Policy.self, EmployeeToEmployeePolicy.self,
    V2to3MakerPolicy.self,
  ]

  private func open(
    _ url: URL, _ registry: ModelRegistry, to name: String? = nil, _ body: (ManagedObjectContext) throws -> Void
  ) throws {
    let version = try name.map(registry.version) ?? registry.currentVersion
    let coordinator = PersistentStoreCoordinator(model: version.model, registry: registry)
    let store = try coordinator.addStore(
      at: url, options: StoreOptions(migrator: AutomaticMigrator(policies: Self.policies)))
    try body(ManagedObjectContext(coordinator))
    try coordinator.remove(store)
    let names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
    #expect(names.filter { $0.contains("migration") } == [], "nothing stays behind")
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: registry) { problems.append($0) }
    #expect(problems == [])
  }

  @Test("posts: 2 to 3 splits off a section of each post")
  func posts2to3() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("posts"))
    try withCopy(ofStore: "posts/CoreDataMigration_Example_2.sqlite") { url in
      try open(url, registry, to: "CoreDataMigration_Example 3") { context in
        let posts = try context.fetch(FetchRequest("Post", sortedBy: "postID", isAscending: false))
        #expect(posts.count == 10)
        try #expect(context.count(for: FetchRequest("Section")) == 10)
        let first = try #require(posts.first)
        #expect((first["date"] as? Date)?.timeIntervalSince1970 == 1_547_494_150.058821)
        #expect(first["hexColor"] as? String == "1BB732")
        #expect(first["postID"] as? String == "FFFECB21-6645-4FDD-B8B0-B960D0E61F5A")
        let section = try #require(try first.related("sections").first)
        #expect(section["title"] as? String == "Test...")
        #expect(section["body"] as? String == "Test body")
        #expect(section["index"] as? Int == 0)
      }
    }
  }

  @Test("posts: from every version to the newest, through all versions between", arguments: 1...3)
  func posts(version: Int) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("posts"))
    try withCopy(ofStore: "posts/CoreDataMigration_Example_\(version).sqlite") { url in
      let plan = try MigrationPlan(
        storeAt: url, registry: registry, migrator: AutomaticMigrator(policies: Self.policies))
      #expect(plan.way == (version == 3 ? .inPlace : .copy))
      let ways: [MigrationWay] = [.inPlace, .copy, .inPlace]
      #expect(plan.hops.map(\.way) == (version == 3 ? [] : Array(ways.dropFirst(version - 1))))
      try open(url, registry) { context in
        let posts = try context.fetch(FetchRequest("Post", sortedBy: "date", isAscending: false))
        #expect(posts.count == (version == 3 ? 12 : 10))
        try #expect(context.count(for: FetchRequest("Section")) == (version == 3 ? 14 : 10))
        #expect(posts.allSatisfy { $0["softDeleted"] as? Bool == false })
        guard version == 3, let first = posts.first else { return }
        #expect(first["postID"] as? String == "7BC43935-3209-404E-836A-06F3C6518CB1")
        #expect((first["date"] as? Date)?.timeIntervalSince1970 == 1_547_764_015.200076)
        #expect(first["hexColor"] as? String == "BAEFB6")
        let titles = try first.related("sections").filter { $0["index"] as? Int == 0 }.map { $0["title"] as? String }
        try #expect(first.related("sections").count == 2)
        #expect(titles == ["This post will have 2 sections"])
      }
    }
  }

  @Test("moody: from every version to the newest, by four mapping models", arguments: 1...5)
  func moody(version: Int) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("moody"))
    try withCopy(ofStore: "moody/Moody\(version == 1 ? "" : " \(version)").moody") { url in
      let before = try Moods(at: url, registry)
      try open(url, registry) { _ in }
      let after = try Moods(at: url, registry)
      #expect(!before.moods.isEmpty)
      #expect(after.moods == before.moods)
      #expect(after.countries == before.countries)
      #expect(after.continents == before.continents)
      #expect(after.continentOfCountry == before.continentOfCountry)
    }
  }

  /// Contents that every version of moody must keep.
  private struct Moods {
    var moods: [String: Int] = [:]
    var countries: Set<Int> = []
    var continents: Set<Int> = []
    var continentOfCountry: [Int: Int] = [:]

    init(at url: URL, _ registry: ModelRegistry) throws {
      let found = try StoreIdentification.identify(storeAt: url, registry: registry)
      let coordinator = PersistentStoreCoordinator(model: found.model, registry: registry)
      try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true))
      let context = ManagedObjectContext(coordinator)
      for mood in try context.fetch(FetchRequest("Mood")) {
        let country = mood["country"] as? ManagedObject
        moods["\(mood["date"] as? Date ?? .distantPast)", default: 0] += country?["numericISO3166Code"] as? Int ?? -1
      }
      for country in try context.fetch(FetchRequest("Country")) {
        let code = country["numericISO3166Code"] as? Int ?? -1
        countries.insert(code)
        if found.version?.name == "Moody 5" {
          continentOfCountry[code] = country["isoContinent"] as? Int
        } else {
          continentOfCountry[code] = (country["continent"] as? ManagedObject)?["numericISO3166Code"] as? Int
        }
      }
      // A continent without countries can't be represented in version 5.
      continents = Set(continentOfCountry.values)
    }
  }

  @Test(
    "employees: 2 to 3, and 1 to 3, with a policy that splits names",
    arguments: ["MWKCoreDataTests2", "MWKCoreDataTests"])
  func employees(name: String) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("employees"))
    try withCopy(ofStore: "employees/Stores/\(name).sqlite") { url in
      let names = try MadeStore.rows("SELECT ZNAME FROM ZEMPLOYEE ORDER BY ZNAME", at: url).flatMap { $0 }
      try open(url, registry, to: "MWKCoreDataTests3") { context in
        let employees = try context.fetch(FetchRequest("Employee"))
        let joined = employees.map { employee in
          [employee["firstName"], employee["lastName"]].compactMap { $0 as? String }.filter { !$0.isEmpty }
            .joined(separator: " ")
        }
        #expect(joined.sorted() == names)
        #expect(!names.isEmpty)
      }
    }
  }

  @Test("MAP-04: cars 2 to 3 assigns every car its maker, and owners their previous cars", arguments: [1, 2])
  func cars(version: Int) throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("cars"))
    try withCopy(ofStore: "cars/Fixtures/SampleModel_V\(version).sqlite") { url in
      let cars = try MadeStore.rows("SELECT COUNT(*), COUNT(DISTINCT ZMAKER), COUNT(ZOWNER) FROM ZCAR", at: url)[0]
      try open(url, registry, to: "SampleModel3") { context in
        let found = try context.fetch(FetchRequest("Car"))
        #expect("\(found.count)" == cars[0])
        try #expect("\(context.count(for: FetchRequest("Maker")))" == cars[1])
        #expect(found.allSatisfy { $0["createdBy"] is ManagedObject })
        for car in found {
          let owner = car["owner"] as? ManagedObject
          let previous = try Array(car.related("previousOwners"))
          #expect(previous == (owner.map { [$0] } ?? []))
          if let owner { try #expect(owner.related("previousCars").contains(car)) }
        }
        #expect("\(found.count { $0["owner"] is ManagedObject })" == cars[2])
        let kia = try #require(found.first)
        kia["numberPlate"] = "changed after migrating"
        try context.save()
      }
    }
  }

  @Test("An unregistered policy is named, and the store isn't accessed")
  func missingPolicy() throws {
    let registry = try ModelRegistry(contentsOf: SharedData.url("posts"))
    try withCopy(ofStore: "posts/CoreDataMigration_Example_1.sqlite") { url in
      let before = try FolderSnapshot(url.deletingLastPathComponent())
      let error = #expect(throws: PersistenceError.self) {
        try AutomaticMigrator().migrate(storeAt: url, to: registry.currentVersion, registry: registry)
      }
      #expect(error?.code == .missingMappingModel)
      #expect(error?.message.contains("Post2ToPost3MigrationPolicy") == true)
      let plan = try MigrationPlan(storeAt: url, registry: registry)
      #expect(plan.way == .impossible)
      #expect(plan.hops.map(\.way) == [.inPlace, .impossible, .inPlace])
      try #expect(FolderSnapshot(url.deletingLastPathComponent()) == before)
    }
  }
}
