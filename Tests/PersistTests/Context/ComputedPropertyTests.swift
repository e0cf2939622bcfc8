import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Computed properties by key")
struct ComputedPropertyTests {
  private final class Person: ManagedObject {
    var displayName: String { "\(self["name"] as? String ?? "") \"\(self["nickname"] as? String ?? "")\"" }

    override class var computedProperties: [ComputedProperty] {
      [
        ComputedProperty("displayName") { (person: Person) in person.displayName },
        ComputedProperty("initial") { (person: Person) in (person["name"] as? String)?.prefix(1) },
        ComputedProperty("firstPet") { (person: Person) in try? person.related("pets").first },
        ComputedProperty("name") { (_: Person) in "never: stored properties aren't hidden" },
      ]
    }
  }

  @Test("A transient attribute computed by a class, and properties that the model lacks, are accessible by key")
  func byKey() throws {
    try withStack(SampleModels.pets) { stack in
      let context = ManagedObjectContext(stack.coordinator, classes: ["Person": Person.self])
      let ann = try context.make("Person", ["name": "Ann"])
      let rex = try context.make("Pet", ["name": "Rex", "owner": ann])
      #expect(ann["displayName"] as? String == "Ann \"buddy\"" && ann["name"] as? String == "Ann")
      #expect(try rex.value(forKeyPath: "owner.displayName") as? String == "Ann \"buddy\"")
      #expect(try ann.value(forKey: "displayName", as: String.self) == "Ann \"buddy\"")
      #expect(try ann.value(forKey: "firstPet") as? ManagedObject === rex)
      #expect(try FetchPredicate("displayName BEGINSWITH 'Ann' AND initial == 'A'").evaluate(with: ann))
      #expect(try FetchPredicate("firstPet.name == 'Rex'").evaluate(with: ann))
      #expect(persistError { _ = try ann.value(forKey: "height") }?.code == .unknownProperty)
      ann["nickname"] = nil
      try context.save()
      #expect(ann["displayName"] as? String == "Ann \"\"")
    }
  }

  @Test("Rows of values contain what the context's own classes compute")
  func rows() async throws {
    try await withTemporaryFolder { folder in
      let stack = try TestStack(
        ManagedObjectModel(SampleModels.pets), at: folder.appendingPathComponent("store.sqlite"))
      let context = ManagedObjectContext(stack.coordinator, classes: ["Person": Person.self])
      try context.make("Person", ["name": "Ann"])
      try context.save()
      var request = FetchRequest<FetchedRow>("Person")
      request.propertiesToFetch = ["displayName"]
      let rows = try context.fetch(request)
      let others = try await context.fetch(request, progress: nil)
      for found in [rows, others] { #expect(found.map { $0["displayName"] as? String } == ["Ann \"buddy\""]) }
      try stack.store.close()
    }
  }

  @Test("A transient attribute of a class that computes nothing keeps the value set")
  func setTransient() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["displayName": "set"])
      #expect(ann["displayName"] as? String == "set")
    }
  }
}
