import Foundation
import Persist
import PersistMacrosless
import PersistTestSupport
import Testing

final class SearchedNote: ManagedObject {
  @Attribute(fullText: .stems) var body = ""
  @Attribute(fullText: .words) var remark: String?
}

@Suite("Full-text search with classes")
struct FullTextPredicateTests {
  @Test("A class marks its attributes, and key paths and closures search for their words")
  func matchesText() throws {
    try withTemporaryStore { url in
      let model = try ManagedObjectModel(SearchedNote.self)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let note = SearchedNote(context: context)
      note.body = "Running for tea"
      note.remark = "later"
      _ = SearchedNote(context: context)
      try context.save()
      for predicate: TypedPredicate<SearchedNote> in [
        (\SearchedNote.body).matchesText("runs tea"), (\SearchedNote.remark).matchesText("la*"),
        TypedPredicate { $0.body.matchesText("tea") && !$0.remark.matchesText("sooner") },
      ] {
        try #expect(context.fetch(FetchRequest("SearchedNote", where: predicate)) == [note])
        try #expect(predicate.evaluate(with: note))
      }
    }
  }
}
