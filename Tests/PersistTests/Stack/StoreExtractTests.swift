import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

@Suite("A new store with some objects of another one")
struct StoreExtractTests {
  /// Exports the objects of an entity that meet a condition.
  private func export(
    _ entity: String, _ condition: String, of url: URL, to file: URL
  ) throws -> StoreExtract.Outcome {
    let contents = try StoreContents(readingStoreAt: url, registry: nil)
    var extract = StoreExtract(of: contents)
    let request = try FetchRequest<ManagedObject>(entity, where: condition)
    extract.add(try contents.context().fetchRowKeys(request, monitor: ReadMonitor()))
    return try extract.write(to: file)
  }

  private func expectNoProblems(_ url: URL) throws {
    var problems: [StoreProblem] = []
    try checkStore(at: url, registry: nil) { problems.append($0) }
    #expect(problems == [])
  }

  private static func leaf(isRequired: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Leaf", attributes: [AttributeDescription("name", .string)],
          relationships: [RelationshipDescription("branch", to: "Branch", inverse: "leaves", isOptional: !isRequired)]),
        EntityDescription(
          "Branch",
          relationships: [
            RelationshipDescription("leaves", toMany: "Leaf", inverse: "branch", isOrdered: true),
            RelationshipDescription("tree", to: "Plant", isOptional: !isRequired),
          ]),
        EntityDescription("Plant", isAbstract: true, attributes: [AttributeDescription("name", .string)]),
        EntityDescription("Tree", parent: "Plant"), EntityDescription("Bush", parent: "Plant"),
      ]))
  }

  private func fill(_ model: ManagedObjectModel, at url: URL) throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try coordinator.addStore(at: url)
    let context = ManagedObjectContext(coordinator)
    for number in 0..<4 {
      let branch = ManagedObject(entity: "Branch", context: context)
      branch["tree"] = ManagedObject(entity: number.isMultiple(of: 2) ? "Tree" : "Bush", context: context)
      branch["leaves"] = (0..<5).map { position in
        let leaf = ManagedObject(entity: "Leaf", context: context)
        leaf["name"] = "\(number).\(position)"
        return leaf
      }
    }
    try context.save()
    try coordinator.remove(store)
  }

  @Test("Objects that others can't be valid without come along, and theirs; orders remain")
  func required() throws {
    try withTemporaryStore { url in
      let model = try Self.leaf(isRequired: true)
      try fill(model, at: url)
      let file = otherStore("part", beside: url)
      let outcome = try export("Leaf", "name IN {'1.4', '1.0', '3.2'}", of: url, to: file)
      #expect(outcome.objects == 7 && outcome.required == 4)
      try expectNoProblems(file)
      let (whole, part) = (try StoreDump(of: model, at: url), try StoreDump(of: model, at: file))
      #expect(part.objects["Leaf"]?.count == 3 && part.objects["Bush"]?.count == 2)
      #expect(part.objects["Tree"]?.isEmpty != false)
      for (key, leaf) in part.objects["Leaf"] ?? [:] { #expect(leaf == whole.objects["Leaf"]?[key]) }
      for (key, branch) in part.objects["Branch"] ?? [:] {
        let order = whole.objects["Branch"]?[key]?["leaves"]?.split(separator: " ") ?? []
        let kept = order.filter { part.objects["Leaf"]?[Int64($0) ?? 0] != nil }
        #expect(branch["leaves"] == kept.joined(separator: " "))
      }
    }
  }

  @Test("Optional relationships to objects that aren't exported are empty")
  func optional() throws {
    try withTemporaryStore { url in
      let model = try Self.leaf(isRequired: false)
      try fill(model, at: url)
      let file = otherStore("part", beside: url)
      let outcome = try export("Leaf", "name BEGINSWITH '2'", of: url, to: file)
      #expect(outcome.objects == 5 && outcome.required == 0)
      try expectNoProblems(file)
      let part = try StoreDump(of: model, at: file)
      #expect(part.objects["Leaf"]?.values.allSatisfy { $0["branch"] == nil } == true)
    }
  }

  @Test("All objects of a store are the whole store", arguments: 1...8)
  func everything(seed: UInt64) throws {
    try withTemporaryStore { url in
      let models = RandomModels(seed: seed)
      let model = try models.model()
      try MadeStore.make(model, at: url)
      try MadeStore.fill(model, at: url, rows: 40, seed: seed)
      let contents = try StoreContents(readingStoreAt: url, registry: nil)
      var extract = StoreExtract(of: contents)
      let context = try contents.context()
      for entity in model.entities where entity.superentity == nil {
        let request = FetchRequest<ManagedObject>(entity.name)
        extract.add(try context.fetchRowKeys(request, monitor: ReadMonitor()))
      }
      let file = otherStore("whole", beside: url)
      let outcome = try extract.write(to: file)
      #expect(outcome.required == 0)
      let (before, after) = (try StoreDump(of: model, at: url), try StoreDump(of: model, at: file))
      #expect(after.differences(from: before) == [])
      try expectNoProblems(file)
    }
  }

  @Test("A file that is there already isn't touched, and a failed export leaves none", .aboutFiles("files in the way"))
  func refused() throws {
    try withTemporaryStore { url in
      try fill(Self.leaf(isRequired: true), at: url)
      let file = otherStore("part", beside: url)
      try Data("mine".utf8).write(to: file)
      #expect(throws: PersistenceError.self) { try export("Leaf", "TRUEPREDICATE", of: url, to: file) }
      #expect(try Data(contentsOf: file) == Data("mine".utf8))
      let contents = try StoreContents(readingStoreAt: url, registry: nil)
      let other = otherStore("stopped", beside: url)
      #expect(throws: CancellationError.self) {
        try StoreExtract(of: contents).write(to: other) { _, _ in throw CancellationError() }
      }
      #expect(!FileManager.default.fileExists(atPath: other.path))
    }
  }
}
