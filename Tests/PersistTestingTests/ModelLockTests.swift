import Foundation
import PersistTestSupport
import PersistTesting
import Testing

@testable import Persist
@testable import PersistModel

@Suite("The lock of released versions")
struct ModelLockTests {
  private func version(_ name: String, _ attributes: String...) throws -> ModelVersion {
    ModelVersion(
      name: name,
      model: try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription("Item", attributes: attributes.map { AttributeDescription($0, .string) }),
          EntityDescription("Tag"),
        ])))
  }

  private func registry(_ versions: ModelVersion...) -> ModelRegistry {
    ModelRegistry(versions: versions, family: "Shop")
  }

  @Test("An unchanged locked version passes; one in development may change")
  func unchanged() throws {
    var lock = ModelLock()
    let added = try lock.lock(registry(version("1", "name")))
    #expect(added.map(\.name) == ["1"])
    try lock.check(registry(version("1", "name"), version("2", "name", "price")))
    try lock.check(registry(version("1", "name"), version("2", "name", "cost")))
    let again = try lock.lock(registry(version("1", "name")))
    #expect(again == [])
  }

  @Test("A changed locked version fails, with its entities and what to do")
  func changed() throws {
    var lock = ModelLock()
    try lock.lock(registry(version("1", "name")))
    let error = try #require(
      #expect(throws: PersistenceError.self) { try lock.check(registry(version("1", "name", "price"))) })
    #expect(error.code == .releasedVersionChanged)
    #expect(error.message.contains("'1' of 'Shop' was changed: 'Item'."))
    #expect(error.fix?.contains("new version") == true)
    try #expect(lock.changes(in: registry(version("1", "name", "price"))).map(\.entities) == [["Item"]])
  }

  @Test("Changes that don't affect a store are allowed in a released version")
  func harmless() throws {
    func version(_ attribute: AttributeDescription) throws -> ModelVersion {
      ModelVersion(
        name: "1",
        model: try ManagedObjectModel(ModelDescription(entities: [EntityDescription("Item", attributes: [attribute])])))
    }
    var lock = ModelLock()
    try lock.lock(registry(version(AttributeDescription("name", .string))))
    try lock.check(registry(version(AttributeDescription("name", .string, default: "New"))))
  }

  @Test("A missing locked version fails, until it is removed from the lock")
  func gone() throws {
    var lock = ModelLock()
    try lock.lock(registry(version("1", "name"), version("2", "name")))
    let error = #expect(throws: PersistenceError.self) { try lock.check(registry(version("2", "name"))) }
    #expect(error?.message.contains("'1' of 'Shop' is gone") == true)
    let wasLocked = lock.unlock(.init(model: "Shop", name: "1"))
    #expect(wasLocked)
    try lock.check(registry(version("2", "name")))
  }

  @Test("The file keeps every line of earlier versions when one is added")
  func file() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent(ModelLock.fileName)
      var lock = ModelLock()
      try lock.lock(registry(version("1", "name")))
      try lock.write(to: file)
      let before = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      try lock.lock(registry(version("1", "name"), version("2", "name", "price")))
      try lock.write(to: file)
      let after = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      #expect(before.filter { $0.contains("Item") } == Array(after.filter { $0.contains("Item") }.prefix(1)))
      #expect(after.filter { $0.contains("Item") }.count == 2)
      try #expect(ModelLock(contentsOf: file) == lock)
    }
  }

  @Test("Carriage returns, which git adds with core.autocrlf, don't matter, nor do their places")
  func carriageReturns() throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent(ModelLock.fileName)
      var lock = ModelLock()
      try lock.lock(registry(version("1", "name"), version("2", "name", "price")))
      try lock.write(to: file)
      let text = try String(contentsOf: file, encoding: .utf8).replacing("\n", with: "\r\n")
      try Data(text.utf8).write(to: file)
      try #expect(ModelLock(contentsOf: file) == lock)
      try Data((text + "=======\r\n").utf8).write(to: file)
      let error = #expect(throws: PersistenceError.self) { try ModelLock(contentsOf: file) }
      #expect(error?.message.contains("merge conflict") == true)
      #expect(error?.place.line == text.count { $0 == "\r\n" } + 1)
    }
  }

  @Test("A missing or damaged file, and one of a later format, are refused", arguments: [
    nil, "", "{", "[]", #"{"format": 2, "models": {}}"#, #"{"format": 1, "models": {"Shop": 3}}"#,
  ])
  func damaged(_ text: String?) throws {
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent(ModelLock.fileName)
      if let text { try Data(text.utf8).write(to: file) }
      let error = #expect(throws: PersistenceError.self) { try ModelLock(contentsOf: file) }
      #expect(error?.code == (text == nil ? .fileAccess : .malformedFile))
      #expect(error?.fix != nil)
    }
  }

  @Test("Models in files are checked against the lock beside them")
  func besideModels() throws {
    try withTemporaryFolder { folder in
      let shop = folder.appendingPathComponent("Shop.xcdatamodeld")
      try FileManager.default.copyItem(at: PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld"), to: shop)
      #expect(throws: PersistenceError.self) { try ModelLock.check(modelsAt: folder) }
      var lock = ModelLock()
      let added = try lock.lock(ModelRegistry(contentsOf: folder))
      #expect(added.count == 3)
      try lock.write(to: ModelLock.url(forModelsAt: shop))
      try ModelLock.check(modelsAt: shop)
      try ModelLock.check(modelsAt: folder)

      let contents = shop.appendingPathComponent("Shop 2.xcdatamodel/contents")
      let text = try String(contentsOf: contents, encoding: .utf8)
      try Data(text.replacing("attributeType=\"Integer 32\"", with: "attributeType=\"Integer 64\"").utf8)
        .write(to: contents)
      let error = #expect(throws: PersistenceError.self) { try ModelLock.check(modelsAt: folder) }
      #expect(error?.code == .releasedVersionChanged)
      #expect(error?.message.contains("'Shop 2' of 'Shop' was changed") == true)
      #expect(error?.fix?.contains(".xccurrentversion") == true)

      try Data("<broken".utf8).write(to: contents)
      let unreadable = #expect(throws: PersistenceError.self) { try ModelLock.check(modelsAt: folder) }
      #expect(unreadable?.place.file?.lastPathComponent == "contents")
      var empty = ModelLock()
      #expect(throws: PersistenceError.self) { try empty.lock(ModelRegistry(contentsOf: folder)) }
    }
  }
}
