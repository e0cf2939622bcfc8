import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

private final class Author: ManagedObject {
  @Attribute var alias = ""
  @FetchedProperty("authorAlias == $FETCH_SOURCE.alias", sortedBy: [.init("rating")]) var feedbacks: [Feedback]
}

private final class Feedback: ManagedObject {
  @Attribute var authorAlias = ""
  @Attribute var rating = 0.0
}

@Suite("Fetched properties of classes")
struct FetchedPropertyTests {
  @Test("A fetched property returns the results of its request for the object, in order")
  func fetched() throws {
    try withTemporaryStore { store in
      do {
        let context = try makeContext(Author.self, Feedback.self, at: store)
        Author(context: context).alias = "Emma"
        for (alias, rating) in [("Emma", 4.5), ("Ada", 1), ("Emma", 2)] {
          let feedback = Feedback(context: context)
          (feedback.authorAlias, feedback.rating) = (alias, rating)
        }
        try context.save()
      }
      let context = try makeContext(Author.self, Feedback.self, at: store)
      let author = try #require(try Author.fetch(in: context).first)
      #expect(author.feedbacks.map(\.rating) == [2, 4.5])
    }
  }
}
