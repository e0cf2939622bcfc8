import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The behavior that coordinators rely on for stores that persist after closing, for every engine.
@Suite("Contract of store engines: locations")
struct StoreLocationContract {
  static let engines = EngineUnderTest.available.filter(\.isPersistent)
  private let fixture: StoreFixture

  init() throws { fixture = try StoreFixture() }

  private func make(at location: StoreLocation, labels: String...) throws -> any PersistentStore {
    let store = try location.engine.createStore(at: location, model: fixture.model, options: StoreOptions())
    let inserts = try labels.map { try fixture.insert("Tag", ["label": .string($0)]) }
    _ = try store.commit(RowWrites(inserts: inserts))
    return store
  }

  private func open(_ location: StoreLocation) throws -> any PersistentStore {
    try location.engine.openStore(at: location, model: fixture.model, options: StoreOptions(), allowsGaps: false)
  }

  private func tagCount(_ store: any PersistentStore) throws -> Int {
    try store.count(RowQuery(entity: fixture.entity("Tag")))
  }

  private func location(beside location: StoreLocation) throws -> StoreLocation {
    if case .server(var address) = location {
      address.schema += "_other"
      return .server(address)
    }
    let url = try #require(location.url)
    return .file(url.deletingLastPathComponent().appendingPathComponent("Other.sqlite"))
  }

  @Test("A store exists once it is created, with its rows and its identifier", arguments: engines)
  func reopening(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      try #expect(location.engine.canCreateStore(at: location))
      let store = try make(at: location, labels: "a", "b")
      let identifier = store.identifier
      try store.close()
      try #expect(!location.engine.canCreateStore(at: location))
      let again = try open(location)
      #expect(again.identifier == identifier)
      try #expect(tagCount(again) == 2)
      try again.close()
    }
  }

  @Test("Opening a location without a store fails, and creates none", arguments: engines)
  func missing(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let error = #expect(throws: PersistenceError.self) { _ = try open(location) }
      #expect(error?.code == .fileAccess || error?.code == .storeOpenFailed)
      try #expect(location.engine.canCreateStore(at: location))
    }
  }

  @Test("Two users of an open store see each other's commits", arguments: engines)
  func sharing(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let first = try make(at: location, labels: "a")
      let second = try open(location)
      try #expect(location.engine.openCount(ofStoreAt: location) == 2)
      let before = try second.foreignChangeCount()
      _ = try first.commit(RowWrites(inserts: [fixture.insert("Tag", ["label": .string("b")])]))
      try #expect(tagCount(second) == 2)
      try #expect(second.foreignChangeCount() != before)
      try second.close()
      try first.close()
      try #expect(location.engine.openCount(ofStoreAt: location) == 0)
    }
  }

  @Test("A store of another model isn't opened, and the differences are described", arguments: engines)
  func otherModel(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      try make(at: location, labels: "a").close()
      guard case .opened(let store) = try location.engine.openStore(
        at: location, ifOf: fixture.model, registry: nil, options: StoreOptions())
      else {
        Issue.record("The store has the model.")
        return
      }
      try store.close()
      let other = try ManagedObjectModel(
        ModelDescription(entities: [EntityDescription("Tag", attributes: [.init("label", .int16)])]))
      guard case .differs(let difference) = try location.engine.openStore(
        at: location, ifOf: other, registry: nil, options: StoreOptions())
      else {
        Issue.record("The store has another model.")
        return
      }
      #expect(difference.error.code == .incompatibleModel)
      #expect(difference.error.localizedDescription.contains("label"))
      #expect(difference.store != nil)
      try #expect(location.engine.openCount(ofStoreAt: location) == 0)
    }
  }

  @Test("The model of a store is identified among the versions", arguments: engines)
  func identification(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let store = try make(at: location, labels: "a")
      try store.close()
      let version = ModelVersion(name: "One", model: fixture.model)
      let found = try location.engine.identifyStore(at: location, registry: ModelRegistry(versions: [version]))
      #expect(found.version?.name == "One")
      #expect(found.metadata.identifier == store.identifier)
      try #expect(location.engine.identifyStore(at: location, registry: nil).model.fingerprints == fixture.model.fingerprints)
    }
  }

  @Test("Only the application's keys of a closed store's metadata change", arguments: engines)
  func metadata(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      try make(at: location).close()
      let before = try location.engine.metadata(ofStoreAt: location)
      var changed = before
      changed.values["note"] = .string("ours")
      changed.values["NSStoreModelVersionHashes"] = .dictionary([:])
      try location.engine.setMetadata(changed, ofStoreAt: location)
      let after = try location.engine.metadata(ofStoreAt: location)
      #expect(after.values["note"] == .string("ours"))
      #expect(after.versionHashes == before.versionHashes)
    }
  }

  @Test("A destroyed store leaves nothing, and a replaced one is a copy", arguments: engines)
  func replacing(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let other = try self.location(beside: location)
      let original = try make(at: other, labels: "a", "b", "c")
      try original.close()
      try make(at: location, labels: "x").close()
      try StoreCopies.replaceStore(at: location, with: other)
      let copy = try open(location)
      #expect(copy.identifier == original.identifier)
      try #expect(tagCount(copy) == 3)
      try copy.close()
      try location.engine.destroyStore(at: location)
      try #expect(location.engine.canCreateStore(at: location))
      try location.engine.destroyStore(at: location)
    }
  }

  @Test("An open store is backed up, moved under another identifier, and used in its new place", arguments: engines)
  func copies(engine: EngineUnderTest) throws {
    try engine.withLocation { location in
      let (other, url) = (try self.location(beside: location), try #require(try self.location(beside: location).url))
      let store = try make(at: location, labels: "a", "b")
      try StoreCopies.backUp(store, to: other)
      try store.reopen(at: url) {}
      #expect(store.url == url)
      try #expect(tagCount(store) == 2)
      try store.close()
      try location.engine.destroyStore(at: other)

      let again = try open(location)
      var exchanged: (any PersistentStore)?
      let moved = try StoreCopies.move(again, to: other, options: StoreOptions()) { exchanged = $0 }
      #expect(exchanged === moved)
      #expect(moved.identifier != again.identifier)
      try #expect(tagCount(moved) == 2)
      try moved.close()
    }
  }
}
