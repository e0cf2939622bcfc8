import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Arguments of any type")
struct ArgumentArrayTests {
  @Test("Values, Foundation's classes and lists of them make the same predicate as typed arguments")
  func arguments() throws {
    let date = Date(timeIntervalSinceReferenceDate: 700)
    let uuid = UUID()
    let cases: [(String, [Any], FetchPredicate)] = try [
      ("a == %@", [5], FetchPredicate("a == %@", 5)),
      ("a == %@", [NSNumber(value: 5)], FetchPredicate("a == %@", 5)),
      ("a == %@ AND b < %@", ["x", date], FetchPredicate("a == %@ AND b < %@", "x", date)),
      ("b < %@", [date as NSDate], FetchPredicate("b < %@", date)),
      ("%K == %@", ["name", "x" as NSString], FetchPredicate("%K == %@", "name", "x")),
      ("a IN %@", [[1, 2]], FetchPredicate("a IN %@", [1, 2])),
      ("a IN %@", [[1, "x", date] as [Any]], FetchPredicate("a IN {1, 'x', %@}", date)),
      ("a IN %@", [NSArray(array: [1, 2])], FetchPredicate("a IN %@", [1, 2])),
      ("a IN %@", [NSSet(object: "x")], FetchPredicate("a IN %@", ["x"])),
      ("a IN %@", [Set(["x"])], FetchPredicate("a IN %@", ["x"])),
      ("a == %@", [NSNull()], FetchPredicate("a == nil")),
      ("a == %@", [uuid], FetchPredicate("a == %@", uuid)),
      ("a BETWEEN %@", [[1, 5] as [Any]], FetchPredicate("a BETWEEN {1, 5}")),
    ]
    for (format, arguments, expected) in cases {
      let read = try FetchPredicate(format: format, argumentArray: arguments)
      #expect(read.format == expected.format, "\(format) \(arguments)")
    }
    try #expect(FetchPredicate(format: "a == 1", argumentArray: nil) == FetchPredicate("a == 1"))
  }

  @Test("An object of a context represents its identifier")
  func objects() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let rex = try context.make("Pet", ["name": "Rex", "owner": ann])
      var request = FetchRequest("Pet")
      request.predicate = try FetchPredicate(format: "owner == %@", argumentArray: [ann])
      #expect(try context.fetch(request) == [rex])
      request.predicate = try FetchPredicate(format: "owner IN %@", argumentArray: [[ann] as [Any]])
      #expect(try context.fetch(request) == [rex])
    }
  }

  @Test("A value of an unsupported type is an error with its place, and so are too few arguments")
  func errors() throws {
    struct Odd {}
    let error = try #require(
      persistError { _ = try FetchPredicate(format: "a == %@ AND b == %@", argumentArray: [1, Odd()]) })
    #expect(error.code == .typeMismatch && error.message.contains("Argument 2") && error.message.contains("Odd"))
    #expect(persistError { _ = try FetchPredicate(format: "a IN %@", argumentArray: [[Odd()]]) }?.code == .typeMismatch)
    #expect(persistError { _ = try FetchPredicate(format: "a == %@", argumentArray: []) }?.code == .invalidPredicate)
  }
}
