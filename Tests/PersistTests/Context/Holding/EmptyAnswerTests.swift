import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Objects without a context in the debug log")
struct EmptyAnswerTests {
  @Test("An object whose context was released logs which property it read as empty")
  func gone() throws {
    try withStack(SampleModels.pets) { stack in
      let lines = LockProtected<[String]>([])
      var pet: ManagedObject?
      do {
        let context = stack.context()
        let person = try context.make("Person", ["name": "Ann"])
        pet = try context.make("Pet", ["name": "Rex", "owner": person])
        try context.save()
        context.refreshAllObjects()
      }
      let object = try #require(pet)
      ManagedObject.$printsEmptyAnswers.withValue({ line in lines.withLock { $0.append(line) } }) {
        #expect(object.one("owner") == nil)
        #expect(object["name"] as? String == nil)
      }
      let told = lines.withLock { $0 }
      #expect(told.count == 2 && told.allSatisfy { $0.hasPrefix("Pet ") && $0.contains("has no context") }, "\(told)")
      #expect(told.first?.contains("'owner'") == true && told.last?.contains("'name'") == true)
    }
  }

  @Test(
    "An object without its context says so when its large value reads as empty", .aboutFilesOfLargeValues,
    .aboutFiles("a large value in a file"))
  func largeValue() throws {
    try withStack(LargeValueTests.model) { stack in
      let lines = LockProtected<[String]>([])
      let maker = stack.context()
      try maker.make("Item", ["blob": LargeValueTests.data(1)])
      try maker.save()
      let item = try stack.context().fetch(FetchRequest("Item"))[0]
      ManagedObject.$printsEmptyAnswers.withValue({ line in lines.withLock { $0.append(line) } }) {
        #expect(item["blob"] == nil)
      }
      #expect(lines.withLock { $0.map { $0.contains("'blob'") } } == [true])
    }
  }

  @Test("Values read before don't count as empty, and neither do recorded key paths")
  func quiet() throws {
    try withStack(SampleModels.pets) { stack in
      let lines = LockProtected<[String]>([])
      var pet: ManagedObject?
      do {
        let context = stack.context()
        pet = try context.make("Pet", ["name": "Rex"])
        try context.save()
        ManagedObject.$printsEmptyAnswers.withValue({ line in lines.withLock { $0.append(line) } }) {
          _ = pet?.one("owner")
        }
      }
      ManagedObject.$printsEmptyAnswers.withValue({ line in lines.withLock { $0.append(line) } }) {
        #expect(pet?["name"] as? String == "Rex")
      }
      #expect(lines.withLock { $0 } == [])
    }
  }
}
