import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Derived attributes")
struct DerivedAttributeTests {
  private static func derived(_ name: String, _ type: AttributeType, _ derivation: String) -> AttributeDescription {
    AttributeDescription(name, type, derivation: derivation)
  }

  private static let press = ModelDescription(entities: [
    EntityDescription(
      "Author",
      attributes: [
        AttributeDescription("name", .string), derived("nameCopy", .string, "name"),
        derived("nameCanonical", .string, "canonical:(name)"), derived("articlesCount", .int64, "articles.@count"),
        derived("totalWords", .int64, "articles.wordCount.@sum"), derived("updatedAt", .date, "now()"),
        derived("longest", .int32, "articles.wordCount.@max"), derived("tagCount", .int64, "tags.@count"),
        derived("loudTags", .int64, "tags.weight.@sum"),
        derived("counted", .int64, "count:(articles)"), derived("summed", .int64, "sum:(articles.wordCount)"),
      ],
      relationships: [
        RelationshipDescription("articles", toMany: "Article", inverse: "author"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "authors"),
      ]),
    EntityDescription(
      "Article",
      attributes: [
        AttributeDescription("title", .string), AttributeDescription("wordCount", .int32),
        derived("titleUpper", .string, "uppercase:(title)"), derived("authorName", .string, "author.name"),
        derived("authorKey", .string, "lowercase:(author.nameCopy)"),
        derived("siblings", .int64, "author.articles.@count"),
      ],
      relationships: [RelationshipDescription("author", to: "Author", inverse: "articles")]),
    EntityDescription("Feature", parent: "Article", attributes: [derived("shadow", .string, "titleUpper")]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("weight", .int32)],
      relationships: [RelationshipDescription("authors", toMany: "Author", inverse: "tags")]),
  ])

  /// "Héllo Wörld" with an article of 10 words and one of 32.
  private func fill(_ context: ManagedObjectContext) throws -> ManagedObject {
    let author = try context.make("Author", ["name": "Héllo Wörld"])
    try context.make("Article", ["title": "Grand Café", "wordCount": 10, "author": author])
    try context.make("Article", ["title": "Short", "wordCount": 32, "author": author])
    try context.save()
    return author
  }

  private func withPress(inMemory: Bool = false, _ body: (ManagedObjectContext) throws -> Void) throws {
    let model = try ManagedObjectModel(Self.press)
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: model)
      if inMemory { try coordinator.addInMemoryStore() } else { try coordinator.addStore(at: url) }
      try body(ManagedObjectContext(coordinator))
    }
  }

  @Test("Batches update derived values like saves, and can't set them", arguments: [false, true])
  func batches(inMemory: Bool) throws {
    try withPress(inMemory: inMemory) { context in
      let author = try refreshed(fill(context))
      func values() -> [Int?] {
        context.refresh(author, mergeChanges: false)
        return ["articlesCount", "totalWords", "longest"].map { author[$0] as? Int }
      }
      #expect(values() == [2, 42, 32])
      let rows: [[String: Any?]] = [
        ["title": "third", "wordCount": 50, "author": author], ["title": "nobody's", "wordCount": 7],
      ]
      try context.execute(BatchInsertRequest("Article", rows))
      #expect(values() == [3, 92, 50])
      let third = try context.named("Article", "third", by: "title")
      #expect(third["titleUpper"] as? String == "THIRD" && third["authorName"] as? String == "Héllo Wörld")
      try context.execute(
        BatchUpdateRequest("Article", set: ["wordCount": try FetchExpression("wordCount + 1"), "title": .value("new")]))
      #expect(values() == [3, 95, 51])
      context.refresh(third, mergeChanges: false)
      #expect(third["titleUpper"] as? String == "NEW")
      try context.execute(BatchDeleteRequest("Article", where: FetchPredicate("wordCount > 40")))
      #expect(values() == [2, 44, 33])
      try context.execute(BatchUpdateRequest("Author", set: ["name": .value("Anna")]))
      #expect(try context.count(for: FetchRequest("Article", where: "authorName == 'Anna'")) == 2)
      let refused = persistError {
        try context.execute(BatchUpdateRequest("Author", set: ["articlesCount": .value(9)]))
      }
      #expect(refused?.code == .invalidRequest)
    }
  }

  private func refreshed(_ object: ManagedObject) throws -> ManagedObject {
    try object.managedObjectContext?.save()
    object.managedObjectContext?.refresh(object, mergeChanges: false)
    return object
  }

  @Test("Copies, texts and related values, after saving and refreshing (DER-01, DER-07)", arguments: [false, true])
  func texts(inMemory: Bool) throws {
    try withPress(inMemory: inMemory) { context in
      let author = try refreshed(fill(context))
      #expect(author["nameCopy"] as? String == "Héllo Wörld" && author["nameCanonical"] as? String == "hello world")
      let article = try refreshed(context.named("Article", "Grand Café", by: "title"))
      #expect(article["titleUpper"] as? String == "GRAND CAFÉ" && article["authorName"] as? String == "Héllo Wörld")
      #expect(article["authorKey"] as? String == "héllo wörld")
      author["name"] = "Anna"
      try context.save()
      try #expect(refreshed(article)["authorName"] as? String == "Anna" && article["authorKey"] as? String == "anna")
      article["author"] = nil
      try #expect(refreshed(article)["authorName"] == nil)
    }
  }

  @Test("Counts and sums follow added, changed and removed members (DER-02)", arguments: [false, true])
  func aggregates(inMemory: Bool) throws {
    try withPress(inMemory: inMemory) { context in
      let author = try refreshed(fill(context))
      func expect(_ count: Int, _ sum: Int, _ longest: Int?) throws {
        let author = try refreshed(author)
        #expect(author["articlesCount"] as? Int == count && author["totalWords"] as? Int == sum)
        #expect(author["counted"] as? Int == count && author["summed"] as? Int == sum)
        #expect(author["longest"] as? Int == longest)
      }
      try expect(2, 42, 32)
      let third = try context.make("Feature", ["title": "c", "wordCount": 8, "author": author])
      try expect(3, 50, 32)
      try #expect(refreshed(third)["siblings"] as? Int == 3)
      #expect(third["shadow"] as? String == "C")
      third["wordCount"] = 80
      try expect(3, 122, 80)
      context.delete(third)
      try expect(2, 42, 32)
      let other = try context.make("Author", ["name": "other"])
      for article in try context.fetch(FetchRequest("Article")) { article["author"] = other }
      try expect(0, 0, nil)
      try #expect(refreshed(other)["totalWords"] as? Int == 42)
    }
  }

  @Test("Many-to-many relationships are counted and summed too")
  func manyToMany() throws {
    try withPress { context in
      let author = try context.make("Author", ["name": "a"])
      let tags = try [1, 2, 4].map { try context.make("Tag", ["weight": $0]) }
      try author.many("tags").insert(contentsOf: tags)
      try #expect(refreshed(author)["tagCount"] as? Int == 3 && author["loudTags"] as? Int == 7)
      tags[0]["weight"] = 10
      try author.many("tags").remove(tags[1])
      try #expect(refreshed(author)["tagCount"] as? Int == 2 && author["loudTags"] as? Int == 14)
      context.delete(tags[2])
      try #expect(refreshed(author)["tagCount"] as? Int == 1 && author["loudTags"] as? Int == 10)
    }
  }

  @Test("Before the first save there is no value, and assigned values aren't kept (DER-04)")
  func beforeSaving() throws {
    try withPress { context in
      let author = try context.make("Author", ["name": "a"])
      for name in ["nameCopy", "articlesCount", "updatedAt"] { #expect(author[name] == nil) }
      author["nameCopy"] = "mine"
      try #expect(refreshed(author)["nameCopy"] as? String == "a" && author["articlesCount"] as? Int == 0)
    }
  }

  @Test("The time of the last change advances with each change of the object, and only then")
  func time() throws {
    try withPress { context in
      let start = Date()
      let author = try refreshed(fill(context))
      let first = try #require(author["updatedAt"] as? Date)
      #expect(abs(first.timeIntervalSince(start)) < 60)
      try context.fetch(FetchRequest("Article"))[0].setValue("new", forKey: "title")
      try #expect(refreshed(author)["updatedAt"] as? Date == first)
      Thread.sleep(forTimeInterval: 0.01)
      author["name"] = "b"
      let second = try #require(refreshed(author)["updatedAt"] as? Date)
      #expect(second > first)
    }
  }

  @Test("A fresh stack filters by derived values (DER-05)")
  func filtering() throws {
    try withPress { context in
      _ = try fill(context)
      let fresh = ManagedObjectContext(context.persistentStoreCoordinator)
      for format in ["articlesCount == 2", "nameCanonical == 'hello world'", "totalWords == 42"] {
        try #expect(fresh.fetch(FetchRequest("Author", where: format)).count == 1, "\(format)")
      }
      let sorted = try fresh.fetch(FetchRequest("Article", sortedBy: "titleUpper"))
      #expect(sorted.map { $0["title"] as? String } == ["Grand Café", "Short"])
    }
  }

  @Test("Saving an object whose derived values were changed by others is no conflict")
  func versions() throws {
    try withPress { context in
      let author = try fill(context)
      let other = ManagedObjectContext(context.persistentStoreCoordinator)
      let seen = try other.named("Author", "Héllo Wörld")
      try context.named("Article", "Short", by: "title")["wordCount"] = 1
      try #expect(refreshed(author)["totalWords"] as? Int == 11)
      seen["name"] = "x"
      try other.save()
    }
  }

  @Test("Derived attributes are among the attributes, and affect the fingerprint (DER-07)")
  func model() throws {
    let author = try ManagedObjectModel(Self.press).entity(named: "Author")
    #expect(author.attribute(named: "articlesCount")?.isDerived == true)
    var other = Self.press
    other.entities[0].attributes.removeAll { $0.name == "articlesCount" }
    try #expect(ManagedObjectModel(other).entity(named: "Author").fingerprint != author.fingerprint)
  }

  @Test("A migration that adds or changes a derived attribute updates existing rows", arguments: ["a", "b"])
  func migrating(step: String) throws {
    var old = Self.press
    for index in old.entities.indices {
      if step == "a" {
        old.entities[index].attributes.removeAll(where: \.isDerived)
      } else if let place = old.entities[index].attributes.firstIndex(where: { $0.name == "nameCanonical" }) {
        old.entities[index].attributes[place].derivation = "uppercase:(name)"
      }
    }
    try withTemporaryStore { url in
      let before = PersistentStoreCoordinator(model: try ManagedObjectModel(old))
      let store = try before.addStore(at: url)
      _ = try fill(ManagedObjectContext(before))
      try before.remove(store)
      let after = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.press))
      try after.addStore(at: url, options: .automaticMigration)
      let context = ManagedObjectContext(after)
      let author = try context.named("Author", "Héllo Wörld")
      #expect(author["nameCanonical"] as? String == "hello world" && author["articlesCount"] as? Int == 2)
      #expect(author["totalWords"] as? Int == 42 && author["updatedAt"] != nil)
      try #expect(context.named("Article", "Short", by: "title")["authorKey"] as? String == "héllo wörld")
      try context.make("Article", ["wordCount": 8, "author": author])
      try #expect(refreshed(author)["totalWords"] as? Int == 50)
    }
  }

  @Test(
    "A store without triggers has them created when it is opened, and the values of its rows computed",
    .aboutFiles("the triggers of a file; those of servers have a test of their own"))
  func adopting() throws {
    try withPress { context in
      let url = try #require(context.persistentStoreCoordinator.persistentStores[0].url)
      let author = try fill(context)
      try context.persistentStoreCoordinator.remove(context.persistentStoreCoordinator.persistentStores[0])
      let connection = try SQLiteConnection(url, mode: .readWrite)
      for name in try connection.all(.derivedTriggers, { $0.text(0) }) { try connection.apply(.dropTrigger(name)) }
      connection.close()
      let again = PersistentStoreCoordinator(model: context.persistentStoreCoordinator.managedObjectModel)
      try again.addStore(at: url)
      let fresh = ManagedObjectContext(again)
      let same = try #require(again.managedObjectID(forURIRepresentation: author.objectID.uriRepresentation()))
      try fresh.make("Article", ["wordCount": 8, "author": fresh.existingObject(with: same)])
      try fresh.save()
      try #expect(ManagedObjectContext(again).existingObject(with: same)["totalWords"] as? Int == 50)
    }
  }

  @Test("A derivation that no store can compute is refused", arguments: [
    "articles.@sum.wordCount", "nothing", "articles.title", "articles", "name + 1", "author.name",
    "articles.@count.x", "(",
  ])
  func refused(derivation: String) throws {
    var description = Self.press
    description.entities[0].attributes.append(Self.derived("bad", .string, derivation))
    guard let model = try? ManagedObjectModel(description) else { return }
    let error = persistError { try PersistentStoreCoordinator(model: model).addInMemoryStore() }
    #expect(error?.code == .invalidModel && error?.place.property == "bad" && error?.fix != nil, "\(derivation)")
  }
}
