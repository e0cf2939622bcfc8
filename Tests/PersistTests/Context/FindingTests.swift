import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

private final class Person: ManagedObject {}

@Suite("One-line fetches")
struct FindingTests {
  /// 20 persons: names "0" to "4" four times each, salaries 0 to 19; one more without a name.
  private func withPeople(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context(classes: ["Person": Person.self])
      for index in 0..<20 { try context.make("Person", ["name": "\(index % 5)", "salary": index]) }
      try context.save()
      try body(context)
    }
  }

  @Test("The first object by attribute reads one row; nil finds objects without a value (IMP-10)")
  func first() throws {
    try withPeople { context in
      let found = try context.findFirst("Person", byAttribute: "name", with: "3", sortedBy: "salary", ascending: false)
      #expect(found?["salary"] as? Int == 18)
      try #expect(context.findFirst("Person", byAttribute: "name", with: nil) == nil)
      let nameless = try context.make("Person")
      try #expect(context.findFirst("Person", byAttribute: "name", with: nil) === nameless)
      try #expect(context.findFirst("Person", byAttribute: "name", with: "nobody") == nil)
      let predicate = try FetchPredicate("salary > 17")
      try #expect(context.findFirst("Person", matching: predicate, sortedBy: "salary")?["salary"] as? Int == 18)
    }
  }

  @Test("An order written as text sets each key's direction, or the default (IMP-10)")
  func order() throws {
    let order = [FetchSortDescriptor](text: "key1:YES,key2:NO,key3", isAscending: true)
    #expect(order == [.init("key1"), .init("key2", isAscending: false), .init("key3")])
    #expect([FetchSortDescriptor](text: "a, b:YES", isAscending: false).map(\.isAscending) == [false, true])
    #expect([FetchSortDescriptor](text: "").isEmpty)
    try withPeople { context in
      let found = try context.findAll("Person", sortedBy: "name:NO,salary:YES")
      #expect(found.prefix(2).map { $0["salary"] as? Int } == [4, 9])
    }
  }

  @Test("Counting and finding by a predicate (IMP-10)")
  func counting() throws {
    try withPeople { context in
      try #expect(context.count("Person") == 20)
      try #expect(context.count("Person", matching: FetchPredicate("name == '1'")) == 4)
      try #expect(context.findAll("Person", byAttribute: "name", with: "1").count == 4)
    }
  }

  @Test("Deleting all matches deletes only those, with the next save")
  func deleting() throws {
    try withPeople { context in
      try #expect(context.deleteAll("Person", matching: FetchPredicate("salary >= 15")) == 5)
      try #expect(context.count("Person") == 15)
      try #expect(ManagedObjectContext(context.persistentStoreCoordinator).count("Person") == 20)
      try context.save()
      try #expect(ManagedObjectContext(context.persistentStoreCoordinator).count("Person") == 15)
      try context.deleteAll("Person")
      try context.save()
      try #expect(ManagedObjectContext(context.persistentStoreCoordinator).count("Person") == 0)
    }
  }

  @Test("A class method does the same for the class's entity")
  func byClass() throws {
    try withPeople { context in
      let new: Person = Person.create(in: context)
      new["name"] = "new"
      let found: Person? = try Person.findFirst(byAttribute: "name", with: "new", in: context)
      #expect(found === new)
      let all: [Person] = try Person.findAll(sortedBy: "salary:NO", in: context)
      #expect(all.count == 21 && all.first?["salary"] as? Int == 19)
      try #expect(Person.count(matching: FetchPredicate("name == '1'"), in: context) == 4)
      try #expect(Person.deleteAll(matching: FetchPredicate("name == '1'"), in: context) == 4)
      try #expect(Person.findAll(byAttribute: "name", with: "1", in: context).isEmpty)
    }
  }
}
