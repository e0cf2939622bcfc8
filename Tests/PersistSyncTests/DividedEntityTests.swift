import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: entities that a mapping model splits and merges")
struct DividedEntityTests {
  private struct Versions {
    let registry: ModelRegistry
    let mapping: MappingModel

    init(_ old: [EntityDescription], _ new: [EntityDescription], _ mappings: [EntityMapping]) throws {
      let models = try [old, new].enumerated().map { place, entities in
        try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: ["\(place + 1)"]))
      }
      registry = ModelRegistry(
        versions: models.enumerated().map { ModelVersion(name: "\($0.offset + 1)", model: $0.element) })
      mapping = MappingModel("1to2", from: "1", to: "2", entityMappings: mappings)
    }

    func device(_ folder: URL, _ name: String, _ version: Int) throws -> Device {
      try Device(
        folder.appendingPathComponent("\(name).sqlite"), registry.versions[version - 1].model, identifiedBy: [:],
        registry: version == 1 ? ModelRegistry(versions: [registry.versions[0]]) : registry,
        mappingModels: version == 1 ? [] : [mapping])
    }
  }

  private func synchronize(_ devices: [Device], _ hub: FolderHub) async throws {
    for device in devices + devices {
      let report = try await device.replica.synchronize(with: hub)
      #expect(report.refused.isEmpty && report.waiting.isEmpty)
    }
    for device in devices { #expect(try device.outdatedRows().isEmpty) }
  }

  private func texts(_ device: Device, _ entity: String, _ name: String) throws -> [String] {
    try ManagedObjectContext(device.coordinator).fetch(FetchRequest<ManagedObject>(entity))
      .map { $0[name] as? String ?? "nil" }.sorted()
  }

  private func change(
    _ device: Device, _ entity: String, where format: String, _ values: [String: any Sendable]
  ) throws {
    let context = ManagedObjectContext(device.coordinator)
    var request = FetchRequest<ManagedObject>(entity)
    request.predicate = try FetchPredicate(format)
    let object = try context.fetch(request).first
    for (name, value) in values { try #require(object).setValue(value, forKey: name) }
    try context.save()
  }

  private func create(_ device: Device, _ entity: String, _ values: [String: any Sendable]) throws {
    let context = ManagedObjectContext(device.coordinator)
    let object = try context.create(entity)
    for (name, value) in values { try object.setValue(value, forKey: name) }
    try context.save()
  }

  private func person(_ entity: String, _ extra: [AttributeDescription] = []) -> EntityDescription {
    EntityDescription(entity, attributes: [.init("name", .string), .init("kind", .int32)] + extra)
  }

  @Test("An entity that is split by predicates has each object in one later entity, before and after a migration")
  func split() async throws {
    let attributes = [try PropertyMapping("name", "$source.name"), try PropertyMapping("kind", "$source.kind")]
    var employee = EntityMapping("PersonToEmployee", from: "Person", to: "Employee", attributes: attributes)
    employee.sourceExpression = .sourceObjects(of: "Person", where: "kind == 1")
    var customer = EntityMapping("PersonToCustomer", from: "Person", to: "Customer", attributes: attributes)
    customer.sourceExpression = .sourceObjects(of: "Person", where: "kind != 1")
    let versions = try Versions(
      [person("Person")], [person("Employee"), person("Customer", [.init("note", .string)])], [employee, customer])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (old, new) = (try versions.device(folder, "old", 1), try versions.device(folder, "new", 2))
      for (name, kind) in [("Ann", 1), ("Bob", 2), ("Cem", 2)] {
        try create(old, "Person", ["name": name, "kind": kind])
      }
      try await synchronize([old, new], hub)
      #expect(try texts(new, "Employee", "name") == ["Ann"])
      #expect(try texts(new, "Customer", "name") == ["Bob", "Cem"])
      try change(new, "Employee", where: "name == 'Ann'", ["name": "Anna"])
      try change(new, "Customer", where: "name == 'Bob'", ["note": "late"])
      try create(new, "Customer", ["name": "Dan", "kind": 3])
      try await synchronize([new, old], hub)
      // The older version doesn't know which of its entities the newer ones are.
      #expect(try texts(old, "Person", "name") == ["Ann", "Bob", "Cem"])
      // The older version decides about its objects.
      try change(old, "Person", where: "name == 'Cem'", ["kind": 1])
      try await synchronize([old, new], hub)
      #expect(try texts(new, "Employee", "name") == ["Anna", "Cem"])
      try change(old, "Person", where: "name == 'Bob'", ["name": "Rob"])
      try old.close()
      let updated = try versions.device(folder, "old", 2)
      try await synchronize([updated, new], hub)
      #expect(try updated.contents() == new.contents())
      #expect(try texts(new, "Employee", "name") == ["Anna", "Cem"])
      #expect(try texts(new, "Customer", "name") == ["Dan", "Rob"])
      #expect(try texts(new, "Customer", "note") == ["late", "nil"])
    }
  }

  @Test("Entities that are merged have all objects in the later entity, and older replicas keep theirs apart")
  func merge() async throws {
    let versions = try Versions(
      [
        EntityDescription("Cat", attributes: [.init("name", .string)]),
        EntityDescription("Dog", attributes: [.init("title", .string)]),
      ], [EntityDescription("Animal", attributes: [.init("name", .string)])],
      [
        EntityMapping(from: "Cat", to: "Animal", attributes: [try PropertyMapping("name", "$source.name")]),
        EntityMapping(from: "Dog", to: "Animal", attributes: [try PropertyMapping("name", "$source.title")]),
      ])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (old, new) = (try versions.device(folder, "old", 1), try versions.device(folder, "new", 2))
      for name in ["Tom", "Mia"] { try create(old, "Cat", ["name": name]) }
      for name in ["Rex", "Bello", "Lux"] { try create(old, "Dog", ["title": name]) }
      try await synchronize([old, new], hub)
      #expect(try texts(new, "Animal", "name") == ["Bello", "Lux", "Mia", "Rex", "Tom"])
      try change(new, "Animal", where: "name == 'Rex'", ["name": "Max"])
      try create(new, "Animal", ["name": "Nemo"])
      try await synchronize([new, old], hub)
      #expect(try texts(old, "Dog", "title") == ["Bello", "Lux", "Rex"])
      #expect(try texts(old, "Cat", "name") == ["Mia", "Tom"])
      // Changes that nobody has seen before the migration.
      try create(old, "Cat", ["name": "Kit"])
      let context = ManagedObjectContext(old.coordinator)
      for cat in try context.fetch(FetchRequest<ManagedObject>("Cat")) where cat["name"] as? String == "Tom" {
        context.delete(cat)
      }
      try context.save()
      try change(old, "Dog", where: "title == 'Lux'", ["title": "Luxus"])
      try old.close()
      let updated = try versions.device(folder, "old", 2)
      try await synchronize([updated, new], hub)
      #expect(try updated.contents() == new.contents())
      #expect(try texts(new, "Animal", "name") == ["Bello", "Kit", "Luxus", "Max", "Mia", "Nemo"])
    }
  }

  @Test("All objects of a merged entity that were deleted before the migration stay deleted")
  func mergedAway() async throws {
    let versions = try Versions(
      ["Cat", "Dog"].map { EntityDescription($0, attributes: [.init("name", .string)]) },
      [EntityDescription("Animal", attributes: [.init("name", .string)])],
      try ["Cat", "Dog"].map {
        EntityMapping(from: $0, to: "Animal", attributes: [try PropertyMapping("name", "$source.name")])
      })
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      let (old, new) = (try versions.device(folder, "old", 1), try versions.device(folder, "new", 2))
      try create(old, "Cat", ["name": "Tom"])
      try create(old, "Dog", ["name": "Rex"])
      try await synchronize([old, new], hub)
      let context = ManagedObjectContext(old.coordinator)
      for dog in try context.fetch(FetchRequest<ManagedObject>("Dog")) { context.delete(dog) }
      try context.save()
      try old.close()
      let updated = try versions.device(folder, "old", 2)
      try await synchronize([updated, new], hub)
      for device in [updated, new] { #expect(try texts(device, "Animal", "name") == ["Tom"]) }
    }
  }

  @Test("Objects that a migration makes beside others are the same on all devices")
  func derived() async throws {
    let versions = try Versions(
      [EntityDescription("Person", attributes: [.init("name", .string), .init("street", .string)])],
      [
        EntityDescription(
          "Person", attributes: [.init("name", .string)],
          relationships: [.init("address", to: "Address", inverse: "person")]),
        EntityDescription(
          "Address", attributes: [.init("street", .string)],
          relationships: [.init("person", to: "Person", inverse: "address")]),
      ],
      [
        EntityMapping(
          from: "Person", to: "Person", attributes: [try PropertyMapping("name", "$source.name")],
          relationships: [
            PropertyMapping(
              "address",
              valueExpression: .destinationInstances(ofMapping: "PersonToAddress", for: .variable("source")))
          ]),
        EntityMapping(from: "Person", to: "Address", attributes: [try PropertyMapping("street", "$source.street")]),
      ])
    try await withTemporaryFolder { folder in
      let hub = FolderHub(folder.appendingPathComponent("hub"))
      var devices = try ["a", "b"].map { try versions.device(folder, $0, 1) }
      let late = try versions.device(folder, "late", 1)
      for name in ["Ann", "Bob"] { try create(devices[0], "Person", ["name": name, "street": "\(name) street"]) }
      try await synchronize(devices + [late], hub)
      for device in devices { try device.close() }
      devices = try ["a", "b"].map { try versions.device(folder, $0, 2) }
      try await synchronize(devices, hub)
      #expect(try devices[0].contents() == devices[1].contents())
      #expect(try texts(devices[0], "Person", "name") == ["Ann", "Bob"])
      #expect(try texts(devices[0], "Address", "street") == ["Ann street", "Bob street"])
      let context = ManagedObjectContext(devices[1].coordinator)
      let people = try context.fetch(FetchRequest<ManagedObject>("Person"))
      for person in people {
        let address = try #require(person["address"] as? ManagedObject)
        #expect(address["street"] as? String == "\(person["name"] ?? "") street")
      }
      // A device that migrates later doesn't overrule what was changed meanwhile, or bring back what was deleted.
      try change(devices[0], "Address", where: "street == 'Ann street'", ["street": "New street"])
      let other = ManagedObjectContext(devices[0].coordinator)
      let addresses = try other.fetch(FetchRequest<ManagedObject>("Address"))
      for address in addresses where address["street"] as? String == "Bob street" { other.delete(address) }
      try other.save()
      try await synchronize(devices, hub)
      try late.close()
      devices.append(try versions.device(folder, "late", 2))
      try await synchronize(devices, hub)
      for device in devices {
        #expect(try texts(device, "Address", "street") == ["New street"])
        #expect(try device.contents() == devices[0].contents())
      }
    }
  }
}
