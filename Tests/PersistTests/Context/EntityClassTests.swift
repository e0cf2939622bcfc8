import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

private final class ClassOfRoots: ManagedObject {}
private final class ClassOfMiddles: ManagedObject {}
private final class RegisteredByName: ManagedObject {}

@Suite("Classes of entities")
struct EntityClassTests {
  /// Lines of inheritance whose names are in ascending and in descending order.
  private static func lines() throws -> ManagedObjectModel {
    var named = EntityDescription("B3", parent: "C3")
    named.className = String(describing: RegisteredByName.self)
    var unknown = EntityDescription("A3", parent: "B3")
    unknown.className = "NoRegisteredClass"
    return try model(
      EntityDescription("C1"), EntityDescription("B1", parent: "C1"), EntityDescription("A1", parent: "B1"),
      EntityDescription("A2"), EntityDescription("B2", parent: "A2"), EntityDescription("C2", parent: "B2"),
      EntityDescription("C3"), named, unknown, EntityDescription("Alone"))
  }

  @Test("An entity has its own class, or else that of its nearest parent with one, or else ManagedObject")
  func inheritance() throws {
    ManagedObjectClasses.register(RegisteredByName.self)
    let model = try Self.lines()
    let given: [String: ManagedObject.Type] = [
      "C1": ClassOfRoots.self, "B1": ClassOfMiddles.self, "A2": ClassOfRoots.self, "C2": ClassOfMiddles.self,
    ]
    let classes = ManagedObjectClasses.classes(of: model, given: given)
    let names = zip(model.entities, classes).map { "\($0.name) \($1)" }
    #expect(
      names == [
        "A2 ClassOfRoots", "B2 ClassOfRoots", "C2 ClassOfMiddles", "Alone ManagedObject", "C1 ClassOfRoots",
        "B1 ClassOfMiddles", "A1 ClassOfMiddles", "C3 ManagedObject", "B3 RegisteredByName", "A3 RegisteredByName",
      ])
  }
}
