import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The choice and the checks of mapping models")
struct MappingChoiceTests {
  private func version(_ name: String, _ entity: String, _ attributes: String...) throws -> ModelVersion {
    ModelVersion(
      name: name,
      model: try model(EntityDescription(entity, attributes: attributes.map { AttributeDescription($0, .string) })))
  }

  private func mapping(_ from: String?, _ to: String?, _ source: String, _ destination: String, _ value: String)
    throws -> MappingModel
  {
    MappingModel(
      "\(from ?? "?")to\(to ?? "?")", from: from, to: to,
      entityMappings: [
        EntityMapping(from: source, to: destination, attributes: [try PropertyMapping("a", value)])
      ])
  }

  @Test("A mapping model of exactly the two versions comes before ones of single steps")
  func direct() throws {
    let versions = try (1...4).map { try version("\($0)", "Item", "a", "b\($0)") }
    let registry = ModelRegistry(versions: versions)
    var mappings = [try mapping("1", "2", "Item", "Item", "'1-2'"), try mapping("2", "3", "Item", "Item", "'2-3'")]
    mappings += [try mapping("3", "4", "Item", "Item", "'3-4'"), try mapping("1", "4", "Item", "Item", "'1-4'")]
    for (target, expected) in [(3, ["1-4"]), (2, ["2-3"])] {
      try withTemporaryStore { url in
        try MadeStore.make(versions[0].model, at: url)
        try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x')", at: url)
        let report = try AutomaticMigrator(mappingModels: mappings)
          .migrate(storeAt: url, to: versions[target], registry: registry)
        #expect(report.hops == (target == 3 ? 1 : 2))
        try #expect(MadeStore.rows("SELECT ZA FROM ZITEM", at: url) == [expected])
      }
    }
  }

  @Test(
    "A mapping model that fits no step is a note of the plan, and nothing in common is refused",
    arguments: [("1", "22"), ("11", "2"), (nil, nil)] as [(String?, String?)])
  func unmatched(from: String?, to: String?) throws {
    let (old, new) = (try version("1", "People", "a"), try version("2", "Student", "a"))
    let registry = ModelRegistry(versions: [old, new])
    let migrator = AutomaticMigrator(mappingModels: [try mapping(from, to, "People", "Student", "$source.a")])
    try withTemporaryStore { url in
      try MadeStore.make(old.model, at: url)
      try MadeStore.run("INSERT INTO ZPEOPLE (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x')", at: url)
      let plan = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator)
      #expect(!plan.isPossible && plan.notes.contains { $0.contains("fits no two known versions") })
      #expect(plan.blockers.first?.fix.contains("fits no two known versions") == true)
      #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: url, to: new, registry: registry) }
      try #expect(MadeStore.rows("SELECT ZA FROM ZPEOPLE", at: url) == [["x"]])
    }
  }

  @Test("A mapping model in a file that fits no step is a problem of the registry")
  func unmatchedFile() throws {
    let file = MappingModelFile(
      name: "M", url: URL(fileURLWithPath: "/M.xcmappingmodel"), sourceVersion: "1", destinationVersion: "22")
    let registry = ModelRegistry(
      versions: [try version("1", "A", "a"), try version("2", "A", "b")], mappingModels: [file])
    #expect(registry.problems.map(\.code) == [.missingMappingModel])
    try registry.requireReadable()
  }

  @Test(
    "An unknown key in an expression is found with the plan",
    arguments: ["$source.nmae", "uppercase:($source.nmae)", "TERNARY($source.b > 1, 'x', 'y')"])
  func unknownKey(value: String) throws {
    let (old, new) = (try version("1", "Item", "a"), try version("2", "Item", "a", "c"))
    let registry = ModelRegistry(versions: [old, new])
    guard let mapping = try? mapping("1", "2", "Item", "Item", value) else { return }
    try withTemporaryStore { url in
      try MadeStore.make(old.model, at: url)
      let migrator = AutomaticMigrator(mappingModels: [mapping])
      try #expect(!MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator).isPossible)
    }
  }

  @Test("The running entity mapping is known in every report of progress")
  func current() throws {
    let (old, new) = (try version("1", "Item", "a"), try version("2", "Item", "a", "c"))
    try withTemporaryFolder { folder in
      let source = folder.appendingPathComponent("a.sqlite")
      try MadeStore.make(old.model, at: source)
      try MadeStore.run("INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZA) VALUES (1, 1, 1, 'x')", at: source)
      let manager = MigrationManager(sourceModel: old.model, destinationModel: new.model)
      var found: [String] = []
      manager.progress = { [unowned manager] state in
        found.append("\(state.pass.rawValue) \(manager.currentEntityMapping?.name ?? "nil")")
        return true
      }
      try manager.migrateStore(
        from: source, to: folder.appendingPathComponent("b.sqlite"),
        mappingModel: mapping("1", "2", "Item", "Item", "$source.a"))
      #expect(found.contains("objects ItemToItem") && !found.contains("objects nil"))
      #expect(found.last == "done nil")
    }
  }

  // MARK: Renames within a hierarchy

  @Test("A renaming identifier beats an equal name if the former name has another meaning", arguments: [false, true])
  func identifierBeatsName(isDeclaredBelow: Bool) throws {
    func entities(_ parent: [AttributeDescription], _ child: [AttributeDescription]) throws -> ManagedObjectModel {
      try model(EntityDescription("P", attributes: parent), EntityDescription("C", parent: "P", attributes: child))
    }
    let d = AttributeDescription("d", .string)
    let plain = ["x", "y"].map { AttributeDescription($0, .string) }
    let old = try entities(plain + (isDeclaredBelow ? [] : [d]), isDeclaredBelow ? [d] : [])
    let new = try entities(
      [AttributeDescription("x", .string, renamingIdentifier: "y")],
      [AttributeDescription("d", .string, renamingIdentifier: "x")])
    let correspondence = try ModelCorrespondence(from: old, to: new)
    #expect(correspondence.origin(of: "d", in: "C")?.source == "x")
    #expect(correspondence.origin(of: "x", in: "C")?.source == "y")
    #expect(correspondence.origin(of: "x", in: "P")?.source == "y")
  }

  // MARK: Values

  @Test(
    "Texts that aren't URIs block the change to a URI, in place, by copy and by a mapping model", arguments: [0, 1, 2])
  func uris(way: Int) throws {
    func version(_ type: AttributeType) throws -> ModelVersion {
      ModelVersion(
        name: "\(type)", model: try model(EntityDescription("Item", attributes: [AttributeDescription("link", type)])))
    }
    let (old, new) = (try version(.string), try version(.uri))
    let registry = ModelRegistry(versions: [old, new])
    let migrator = AutomaticMigrator(
      mappingModels: way == 2 ? [try .inferred(from: old.model, to: new.model)] : [], alwaysCopies: way == 1)
    try withTemporaryStore { url in
      try MadeStore.make(old.model, at: url)
      try MadeStore.run(
        "INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZLINK) VALUES (1, 1, 1, 'https://swift.org'), (2, 1, 1, '50 % off'), "
          + "(3, 1, 1, 'http://['), (4, 1, 1, NULL)", at: url)
      let plan = try MigrationPlan(storeAt: url, to: new, registry: registry, migrator: migrator)
      #expect(plan.blockers.count == 1 && plan.blockers.allSatisfy { $0.what.hasSuffix(": 2.") })
      #expect(throws: PersistenceError.self) { try migrator.migrate(storeAt: url, to: new, registry: registry) }
      try MadeStore.run("DELETE FROM ZITEM WHERE Z_PK IN (2, 3)", at: url)
      try migrator.migrate(storeAt: url, to: new, registry: registry)
      try #expect(MadeStore.rows("SELECT ZLINK FROM ZITEM", at: url) == [["https://swift.org"], ["nil"]])
    }
  }

  @Test(
    "Values in files return to their rows if external storage is switched off",
    .aboutFilesOfLargeValues, arguments: [false, true])
  func externalStorageOff(isRenamed: Bool) throws {
    func version(_ name: String, _ isExternal: Bool) throws -> ModelVersion {
      let attribute = AttributeDescription(
        name, .binary, renamingIdentifier: name == "data" ? nil : "data", allowsExternalStorage: isExternal)
      return ModelVersion(
        name: "\(isExternal)", model: try model(EntityDescription("Photo", attributes: [attribute])))
    }
    let (old, new) = (try version("data", true), try version(isRenamed ? "bytes" : "data", false))
    let registry = ModelRegistry(versions: [old, new])
    try withTemporaryStore { url in
      let sizes = [300_000, 10, 200_000]
      let writer = PersistentStoreCoordinator(model: old.model)
      let store = try writer.addStore(at: url)
      let context = ManagedObjectContext(writer)
      for size in sizes { try context.make("Photo", ["data": Data(repeating: 2, count: size)]) }
      try context.save()
      try writer.remove(store)
      let report = try AutomaticMigrator().migrate(storeAt: url, to: new, registry: registry)
      #expect(report.way == .inPlace)
      let column = isRenamed ? "ZBYTES" : "ZDATA"
      try #expect(
        MadeStore.rows("SELECT LENGTH(\(column)) FROM ZPHOTO ORDER BY Z_PK", at: url) == sizes.map { ["\($0)"] })
      var problems: [StoreProblem] = []
      try checkStore(at: url, registry: registry) { problems.append($0) }
      #expect(problems == [])
      let folder = ExternalDataFolder(storeAt: url).url
      #expect((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [] == [])
    }
  }
}
