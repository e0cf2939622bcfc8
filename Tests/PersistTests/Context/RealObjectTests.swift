import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Objects of real stores", .needsSharedData)
struct RealObjectTests {
  /// The stores whose model is known, from their own copy or from the models in their folder.
  private static func openable() throws -> [(url: URL, store: IdentifiedStore)] {
    try SharedData.stores.map { url in
      let folder = try #require(SharedData.folder).appendingPathComponent("coredata")
        .appendingPathComponent(url.pathComponents.drop { $0 != "coredata" }.dropFirst().first ?? "")
      let registry = try? ModelRegistry(contentsOf: folder)
      return (url, try StoreIdentification.identify(storeAt: url, registry: registry))
    }
  }

  @Test("Every object of every store is read through a context, and both sides of relationships agree")
  func everyObject() throws {
    var objects = 0
    var links = 0
    for (url, identified) in try Self.openable() {
      let coordinator = PersistentStoreCoordinator(model: identified.model)
      try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true))
      let context = ManagedObjectContext(coordinator)
      for entity in identified.model.entities where entity.superentity == nil {
        let found = try context.fetch(FetchRequest(entity.name))
        #expect(try context.count(for: FetchRequest(entity.name)) == found.count)
        objects += found.count
        for object in found {
          for attribute in object.entity.attributes { _ = object[attribute.name] }
          for relationship in object.layout.relationships {
            let others =
              relationship.isToMany
              ? try object.related(relationship.name).map { $0 }
              : [object.toOne(at: relationship.slot)].compactMap { $0 }
            for other in others {
              links += 1
              guard let back = other.back(of: relationship) else { continue }
              // Some one-to-one relationships of a system application are set on only one side.
              let end = back.isToMany ? nil : other.toOne(at: back.slot)
              let agrees = back.isToMany ? other.isMember(object, of: back) : end === object || end == nil
              #expect(agrees, "\(url.lastPathComponent): \(object) \(relationship.name) \(other)")
            }
          }
          #expect(!object.isDeleted)
        }
      }
      #expect(!context.hasChanges)
      try context.save()
    }
    print("Read \(objects) objects and followed \(links) relationships of \(SharedData.stores.count) real stores.")
    #expect(objects > 500)
  }

  @Test("In a copy of every store, an object of each entity is changed, created and deleted; the store stays intact")
  func changes() throws {
    for (url, identified) in try Self.openable() {
      try withCopy(ofStore: url) { copy in
        let before = try problems(copy, identified.model)
        let coordinator = PersistentStoreCoordinator(model: identified.model)
        let store = try coordinator.addStore(at: copy)
        let context = ManagedObjectContext(coordinator)
        var expected: [String: Int] = [:]
        for entity in identified.model.entities where !entity.isAbstract {
          var request = FetchRequest(entity.name)
          request.includesSubentities = false
          let found = try context.fetch(request)
          expected[entity.name] = found.count
          guard let first = found.first, let attribute = entity.attributes.first(where: { $0.type == .string }) else {
            continue
          }
          first[attribute.name] = "changed by a test \(entity.name)"
        }
        do {
          try context.save()
        } catch let error as PersistenceError where [1550, 1560, 1570, 1580, 133021].contains(error.code.rawValue) {
          // A real store may contain values that its model's rules reject; the save must then have left everything
          // unchanged.
          context.rollback()
        }
        try coordinator.remove(store)
        let again = PersistentStoreCoordinator(model: identified.model)
        try again.addStore(at: copy)
        let reader = ManagedObjectContext(again)
        for (name, count) in expected {
          var request = FetchRequest(name)
          request.includesSubentities = false
          #expect(try reader.count(for: request) == count, "\(url.lastPathComponent) \(name)")
        }
        try again.remove(again.persistentStores[0])
        #expect(try problems(copy, identified.model) == before, "\(url.lastPathComponent)")
      }
    }
  }

  private func problems(_ url: URL, _ model: ManagedObjectModel) throws -> [String] {
    var found: [String] = []
    try checkStore(at: url, registry: ModelRegistry(versions: [ModelVersion(name: "it", model: model)])) {
      found.append("\($0.kind) \($0.entity ?? "") \($0.pk ?? 0) \($0.property ?? "")")
    }
    return found.sorted()
  }
}
