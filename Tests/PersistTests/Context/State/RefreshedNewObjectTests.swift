import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("New objects that are refreshed")
struct RefreshedNewObjectTests {
  @Test("A new object with a permanent identifier stays new, and shows its initial values", arguments: [false, true])
  func permanentIdentifier(isPermanent: Bool) throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let person = try context.make("Person", ["name": "Ann"])
      if isPermanent { try context.obtainPermanentIDs(for: [person]) }
      context.refresh(person, mergeChanges: false)
      #expect(person["name"] == nil)
      #expect(person.isInserted && !person.isDeleted && !person.isFault)
      #expect(person.brokenRule == nil)
      person["name"] = "Bea"
      try context.save()
      try #expect(stack.reopened().context().names("Person") == ["Bea"])
    }
  }
}
