import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

extension QueryGenerationTests {
  @Test("Rows of values and fetches of saved values read the pinned state, also where they are evaluated in memory")
  func computedInMemory() throws {
    try withTwo { reader, writer in
      let context = try pinned(reader)
      try #expect(count(context) == 3)
      let other = ManagedObjectContext(writer)
      for tag in try other.fetch(FetchRequest("Tag")) { tag["label"] = "\(tag["label"] ?? "") later" }
      try other.save()
      let root = ExpressionDescription("root", try FetchExpression("sqrt:(length:(label))"))
      for columns: [ExpressionDescription] in [["label"], ["label", root]] {
        var request = FetchRequest<FetchedRow>("Tag", sortedBy: [.init("label")])
        request.propertiesToFetch = columns
        try #expect(context.fetch(request).map { $0["label"] as? String } == ["a", "b", "c"])
        request.predicate = try FetchPredicate("sqrt:(length:(label)) == 1")
        try #expect(context.fetch(request).map { $0["label"] as? String } == ["a", "b", "c"])
      }
      try #require(try context.fetch(FetchRequest("Tag")).first)["label"] = "unsaved"
      var saved = try FetchRequest("Tag", where: "sqrt:(length:(label)) == 1")
      saved.includesPendingChanges = false
      try #expect(context.fetch(saved).count == 3)
    }
  }
}
