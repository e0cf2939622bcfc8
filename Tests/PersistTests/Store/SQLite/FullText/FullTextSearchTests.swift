import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Full-text search")
struct FullTextSearchTests {
  @Test(
    "Words, phrases, prefixes, proximity and logic find texts",
    arguments: [
      ("tea", ["A cup of Tea", "Tea, and green at that", "green tea"]), ("\"green tea\"", ["green tea"]),
      ("te*", ["A cup of Tea", "Tea, and green at that", "Tennis", "green tea"]), ("^green", ["green tea"]),
      ("tea NOT green", ["A cup of Tea"]), ("tea AND (cup OR that)", ["A cup of Tea", "Tea, and green at that"]),
      ("NEAR(cup tea, 1)", ["A cup of Tea"]), ("cafe", ["Café au lait"]), ("\"\"", []), ("absent", []),
    ])
  func finding(query: String, found: [String]) throws {
    try withNotes { notes, _ in
      try notes.add(["A cup of Tea", "green tea", "Tea, and green at that", "Tennis", "Café au lait", nil])
      try #expect(notes.bodies("body MATCHTEXT %@", query) == found)
      let predicate = try FetchPredicate("body MATCHTEXT %@", query)
      let all = try notes.context.fetch(FetchRequest("Note"))
      let matching = try all.filter { try predicate.evaluate(with: $0) }
      #expect(Set(matching.compactMap { $0["body"] as? String }) == Set(found))
    }
  }

  @Test("Stems and trigrams find the texts with these words")
  func tokenizers() throws {
    try withNotes(NoteStore.description(.stems)) { notes, _ in
      try notes.add(["They were running"])
      try #expect(notes.bodies("body MATCHTEXT 'runs'").count == 1)
    }
    try withNotes(NoteStore.description(FullTextSearch(.trigrams))) { notes, _ in
      try notes.add(["Haustürschlüssel"])
      try #expect(notes.bodies("body MATCHTEXT 'rschl'").count == 1 && notes.bodies("body MATCHTEXT 'xyz'").isEmpty)
    }
    try withNotes(NoteStore.description(FullTextSearch(.words, prefixLengths: [2, 3]))) { notes, _ in
      try notes.add(["Haustürschlüssel"])
      try #expect(notes.bodies("body MATCHTEXT 'hau*'").count == 1)
    }
  }

  @Test("One statement finds them by the index, and the plan scans no table", .aboutFiles("SQLite's plans"))
  func plan() throws {
    try withNotes { notes, _ in
      try notes.add((1...200).map { $0 % 50 == 0 ? "tea \($0)" : "cup \($0)" })
      let request = try FetchRequest<ManagedObject>("Note", where: "body MATCHTEXT 'tea'")
      _ = try notes.context.count(for: request)
      let before = notes.store.statementCount
      try #expect(notes.context.fetch(request).count == 4)
      #expect(notes.store.statementCount - before <= 3, "With the transaction around it.")
      let explained = try notes.context.explain(request)
      let explanation = try #require(explained.statements.first)
      #expect(explanation.plan.contains { $0.contains("VIRTUAL TABLE INDEX") })
      #expect(explanation.plan.contains { $0.contains("SEARCH r0 USING INTEGER PRIMARY KEY") })
      #expect(!explanation.walksThroughTable)
    }
  }

  @Test("Over relationships, in subqueries, and without text, memory agrees with SQL")
  func agreement() throws {
    try withNotes { notes, _ in
      let context = notes.context
      for name in ["Anna", "Ben", "Cleo"] {
        let author = try context.make("Author", ["name": name])
        guard name != "Cleo" else { continue }
        try context.make("Note", ["body": name == "Anna" ? "tea" : "cup of tea", "author": author])
        try context.make("Letter", ["body": "cup", "subject": name == "Anna" ? "plates" : nil, "author": author])
      }
      try context.make("Note", ["body": nil])
      try context.save()
      let formats = [
        ("Author", "ANY notes.body MATCHTEXT 'cup'"), ("Author", "ALL notes.body MATCHTEXT 'cup'"),
        ("Author", "NONE notes.body MATCHTEXT 'plates'"), ("Author", "ANY notes.body MATCHTEXT 'tea NOT cup'"),
        ("Author", "SUBQUERY(notes, $n, $n.body MATCHTEXT 'tea' AND $n.rank == 0).@count > 0"),
        ("Note", "NOT (body MATCHTEXT 'tea')"), ("Note", "body MATCHTEXT 'tea' OR author.name == 'Ben'"),
        ("Letter", "subject MATCHTEXT 'plates' AND body MATCHTEXT 'cup'"), ("Note", "body MATCHTEXT nil"),
        ("Letter", "NOT subject MATCHTEXT 'plates'"), ("Note", "ANY author.notes.body MATCHTEXT 'cup'"),
      ]
      for (entity, format) in formats {
        let predicate = try FetchPredicate(format)
        try #expect(FetchPredicate(predicate.description) == predicate)
        let entityOfModel = try context.entity(named: entity)
        if TestEngine.current == .sqlite {
          try #expect(notes.store.divide(predicate, over: entityOfModel).rest == nil, "\(format)")
        }
        let found = try Set(context.fetch(FetchRequest<ManagedObject>(entity, where: format)).map(\.objectID))
        let all = try context.fetch(FetchRequest(entity))
        try #expect(Set(all.filter { try predicate.evaluate(with: $0) }.map(\.objectID)) == found, "\(format)")
      }
      try #expect(context.count(for: FetchRequest<ManagedObject>("Author", where: "ALL notes.body MATCHTEXT 'cup'")) == 2)
    }
  }

  @Test("Random texts and queries find the same rows in SQL and memory", .law("full-text-rows", short: 1, long: 200))
  func randomAgreement() { forEachSeed(agree) }

  private func agree(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let words = [
      "tea", "Tea", "cup", "ÉTÉ", "ete\u{301}", "naïve", "日本", "straße", "a-b", "x1", "😀", "İi", "æ", "ﬁne", "",
    ]
    func text() -> String {
      let parts = (0..<Int.random(in: 0...6, using: &random)).map { _ in words.randomElement(using: &random) ?? "" }
      return parts.joined(separator: [" ", ", ", "-", "\u{301} "].randomElement(using: &random) ?? " ")
    }
    for search in [FullTextSearch.words, .stems, .trigrams] {
      try withNotes(NoteStore.description(search)) { notes, _ in
        let objects = try notes.add((0..<60).map { _ in text() })
        for _ in 0..<60 {
          let query = FullTextQuery(words: text(), lastIsPrefix: Bool.random(using: &random)).text
          let predicate = try FetchPredicate("body MATCHTEXT %@", query)
          var request = FetchRequest<ManagedObject>("Note")
          request.predicate = predicate
          let found = try notes.context.count(for: request)
          try #expect(objects.filter { try predicate.evaluate(with: $0) }.count == found, "\(search) \(query)")
        }
      }
    }
  }

  @Test("Unsaved objects are found by their current texts, and not by former ones")
  func pendingChanges() throws {
    try withNotes { notes, _ in
      let saved = try notes.add(["tea", "cup", "tea pot"])
      try notes.context.make("Note", ["body": "new tea"])
      saved[0]["body"] = "coffee"
      saved[1]["body"] = "tea cup"
      notes.context.delete(saved[2])
      try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["new tea", "tea cup"])
      try notes.context.save()
      try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["new tea", "tea cup"])
    }
  }

  @Test(
    "The best match comes first; non-matching and unsaved objects come last",
    .aboutFiles("the full-text index of a file"))
  func relevance() throws {
    try withNotes { notes, _ in
      let long = "tea among very many other words that make the text a long one"
      let saved = try notes.add(["tea tea tea", long, "no match", "tea and"])
      var request = FetchRequest<ManagedObject>("Note")
      request.sortDescriptors = [.relevance(of: "body", to: "tea")]
      try #expect(
        notes.context.fetch(request).map { $0["body"] as? String } == ["tea tea tea", "tea and", long, "no match"])
      request.predicate = try FetchPredicate("body MATCHTEXT 'tea'")
      request.fetchLimit = 1
      try #expect(notes.context.fetch(request) == [saved[0]])
      request.sortDescriptors = [.relevance(of: "body", to: "tea").reversed]
      try #expect(notes.context.fetch(request) == [saved[1]])
      request.fetchLimit = 0
      request.sortDescriptors = [.relevance(of: "body", to: "tea")]
      let new = try notes.context.make("Note", ["body": "tea"])
      try #expect(notes.context.fetch(request) == [saved[0], saved[3], saved[1], new])
      let plan = try notes.context.explain(request).statements.flatMap(\.plan)
      #expect(plan.contains { $0.contains("AUTOMATIC") }, "Ranked once, not for each row: \(plan)")
    }
  }

  @Test("Excerpts show the matches, in unsaved texts too, without a statement")
  func excerpts() throws {
    try withNotes { notes, _ in
      let text = (1...30).map { "word\($0)" }.joined(separator: " ") + " Té\u{301}a e\u{301} <b> " + "more of it"
      let note = try notes.add([text])[0]
      let before = notes.store.statementCount
      let found = try note.excerpt(of: "body", matching: "word1 OR word30", wordCount: nil)
      let whole = try #require(found)
      #expect(whole.text == text && whole.matches.map { String(text[$0]) } == ["word1", "word30"])
      let short = try note.excerpt(of: "body", matching: "\"word20 word21\"", wordCount: 4)
      let part = try #require(short)
      #expect(part.text.hasPrefix("…") && part.text.hasSuffix("…"))
      #expect(part.marked("[", "]").contains("[word20 word21]"))
      #expect(part.parts.filter(\.isMatch).map(\.text) == ["word20 word21"])
      note["body"] = "unsaved tea"
      try #expect(note.excerpt(of: "body", matching: "tea")?.marked("*", "*") == "unsaved *tea*")
      try #expect(note.excerpt(of: "body", matching: "word1") == nil)
      #expect(notes.store.statementCount == before)
    }
  }

  @Test("Batch operations select by it and maintain the index")
  func batches() throws {
    try withNotes { notes, url in
      try notes.add(["tea", "cup", "tea cup"])
      let update = BatchUpdateRequest(
        "Note", where: try FetchPredicate("body MATCHTEXT 'tea'"), set: ["body": .value("coffee")])
      _ = try notes.context.execute(update)
      notes.context.refreshAllObjects()
      try #expect(notes.bodies("body MATCHTEXT 'coffee'") == ["coffee", "coffee"])
      _ = try notes.context.execute(BatchInsertRequest("Note", [["body": "tea"], ["body": "new"]]))
      try #expect(notes.bodies("body MATCHTEXT 'tea OR new'") == ["new", "tea"])
      _ = try notes.context.execute(BatchDeleteRequest("Note", where: FetchPredicate("body MATCHTEXT 'coffee'")))
      notes.context.reset()
      try #expect(notes.bodies("TRUEPREDICATE") == ["cup", "new", "tea"])
      try notes.store.close()
      try #expect(problems(at: url) == [])
    }
  }

  @Test("Unsearchable attributes and texts are an error that says so, before anything runs")
  func errors() throws {
    try withNotes { notes, _ in
      func error(_ format: String, _ arguments: any FetchArgument...) -> PersistenceError? {
        persistError {
          var request = FetchRequest<ManagedObject>("Note")
          request.predicate = try FetchPredicate(format, arguments: arguments)
          _ = try notes.context.fetch(request)
        }
      }
      #expect(error("title MATCHTEXT 'x'")?.code == .invalidPredicate)
      #expect(error("title MATCHTEXT 'x'")?.fix?.contains("fullTextSearch") == true)
      #expect(error("author.name MATCHTEXT 'x'")?.code == .invalidPredicate)
      #expect(error("nothing MATCHTEXT 'x'")?.code == .unknownProperty)
      #expect(error("body MATCHTEXT title")?.code == .invalidPredicate)
      #expect(error("body MATCHTEXT[c] 'x'")?.code == .invalidPredicate)
      #expect(error("'text' MATCHTEXT 'x'")?.code == .invalidPredicate)
      #expect(error("body MATCHTEXT %@", "tea AND")?.place.column == 8)
      var request = FetchRequest<ManagedObject>("Note")
      request.sortDescriptors = [.relevance(of: "title", to: "x")]
      #expect(persistError { _ = try notes.context.fetch(request) }?.code == .invalidPredicate)
      request.sortDescriptors = [.relevance(of: "body", to: "x(")]
      #expect(persistError { _ = try notes.context.fetch(request) }?.place.column == 2)
      let value = persistError { _ = try FetchPredicate("SELF MATCHTEXT 'x'").evaluate(with: .string("x")) }
      #expect(value?.code == .invalidPredicate)
    }
  }

  @Test("A child searches its parent's unsaved changes and its own")
  func children() throws {
    try withNotes { notes, _ in
      let saved = try notes.add(["tea", "cup", "pot"])
      saved[1]["body"] = "cup of tea"
      try notes.context.make("Note", ["body": "new tea"])
      let child = ManagedObjectContext(parent: notes.context)
      child.object(with: saved[0].objectID)["body"] = "coffee"
      try child.make("Note", ["body": "the child's tea"])
      let request = try FetchRequest<ManagedObject>("Note", where: "body MATCHTEXT 'tea'")
      func found(_ context: ManagedObjectContext) throws -> Set<String> {
        try Set(context.fetch(request).compactMap { $0["body"] as? String })
      }
      try #expect(found(child) == ["cup of tea", "new tea", "the child's tea"])
      try #expect(found(notes.context) == ["tea", "cup of tea", "new tea"])
      try #expect(child.object(with: saved[1].objectID).excerpt(of: "body", matching: "tea")?.matches.count == 1)
      try child.save()
      try #expect(found(notes.context) == ["cup of tea", "new tea", "the child's tea"])
      try notes.context.save()
      try #expect(found(notes.context) == ["cup of tea", "new tea", "the child's tea"])
    }
  }

  @Test(
    "Rows of values can be sorted by relevance too; groups and results controllers can't",
    .aboutFiles("the full-text index of a file"))
  func otherResults() throws {
    try withNotes { notes, _ in
      try notes.add(["tea and much else", "tea", "cup"])
      var rows = FetchRequest<FetchedRow>("Note")
      rows.propertiesToFetch = ["body"]
      rows.sortDescriptors = [.relevance(of: "body", to: "tea")]
      try #expect(
        notes.context.fetch(rows).map { $0["body"] as? String } == ["tea", "tea and much else", "cup"])
      rows.propertiesToGroupBy = ["body"]
      #expect(persistError { _ = try notes.context.fetch(rows) }?.code == .invalidRequest)
      var request = try FetchRequest<ManagedObject>("Note", where: "body MATCHTEXT 'tea'")
      request.sortDescriptors = [.relevance(of: "body", to: "tea")]
      let refusal = persistError {
        try FetchedResultsController(fetchRequest: request, managedObjectContext: notes.context).performFetch()
      }
      #expect(refusal?.code == .invalidRequest)
      request.sortDescriptors = [FetchSortDescriptor("body")]
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: notes.context)
      try controller.performFetch()
      try notes.context.make("Note", ["body": "a tea"])
      try notes.context.save()
      #expect(controller.fetchedObjects?.map { $0["body"] as? String } == ["a tea", "tea", "tea and much else"])
    }
  }

  @Test("Queries don't reach SQL as text")
  func attacks() throws {
    try withNotes { notes, url in
      try notes.add(["x"])
      for query in [
        "' OR 1=1 --", "x\"; DROP TABLE ZNOTE", "*reads", "{ZBODY}: x", "ZBODY:x", "- ZBODY : x", "x\0y",
      ] {
        let error = persistError { _ = try notes.bodies("body MATCHTEXT %@", query) }
        #expect(error?.code == .invalidPredicate, "\(query)")
        _ = try notes.bodies("body MATCHTEXT %@", FullTextQuery(words: query).text)
      }
      try #expect(notes.bodies("TRUEPREDICATE") == ["x"])
      try notes.store.close()
      try #expect(problems(at: url) == [])
    }
  }
}
