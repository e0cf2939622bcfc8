import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Request templates and fetched properties")
struct TemplateTests {
  private static let model = ModelDescription(
    entities: [
      EntityDescription(
        "Author", attributes: [AttributeDescription("alias", .string)],
        fetchedProperties: [
          FetchedPropertyDescription(
            "feedbacks",
            request: FetchRequestDescription(
              entity: "Feedback", predicate: "authorAlias == $FETCH_SOURCE.alias", sort: [.init("rating")])),
          FetchedPropertyDescription(
            "favFeedbacks",
            request: FetchRequestDescription(
              entity: "Feedback",
              predicate:
                "authorAlias == $FETCH_SOURCE.alias AND comment CONTAINS[c] $FETCHED_PROPERTY.userInfo.search",
              sort: [.init("rating", isAscending: false)]), userInfo: ["search": "great"]),
        ]),
      EntityDescription(
        "Feedback",
        attributes: [
          AttributeDescription("authorAlias", .string), AttributeDescription("comment", .string),
          AttributeDescription("rating", .double),
        ]),
    ],
    fetchRequestTemplates: [
      "Best": FetchRequestDescription(
        entity: "Feedback", predicate: "rating > $RATING AND authorAlias IN $ALIASES",
        sort: [.init("comment", selector: "caseInsensitiveCompare:")], fetchLimit: 2),
      "Odd": FetchRequestDescription(entity: "Feedback", sort: [.init("comment", selector: "sortStrangely:")]),
    ])

  private func seed(_ context: ManagedObjectContext) throws {
    try context.make("Author", ["alias": "Alessandro"])
    try context.make("Author", ["alias": "Andrea"])
    for (comment, rating) in [("great book", 4.2), ("interesting book", 3.5), ("Great novel", 4.3)] {
      try context.make("Feedback", ["authorAlias": "Alessandro", "comment": comment, "rating": rating])
    }
    try context.save()
  }

  private func comments(_ value: Any?) -> [String] {
    (value as? [ManagedObject] ?? []).compactMap { $0["comment"] as? String }
  }

  @Test("A template is a request with variables to substitute")
  func templates() throws {
    try withStack(Self.model) { stack in
      let (context, model) = (stack.context(), stack.model)
      try seed(context)
      let template = try #require(try model.fetchRequestTemplate(named: "Best"))
      #expect(template.fetchLimit == 2 && template.sortDescriptors == [.init("comment", comparison: .caseInsensitive)])
      #expect(template.predicate?.variables == ["RATING", "ALIASES"])
      let values: [String: any FetchArgument] = ["RATING": 4, "ALIASES": ["Alessandro", "Andrea"]]
      let request = try #require(try model.fetchRequestFromTemplate(withName: "Best", substitutionVariables: values))
      try #expect(comments(context.fetch(request)) == ["great book", "Great novel"])
      let count = try model.fetchRequestFromTemplate(
        withName: "Best", substitutionVariables: values, returning: Int.self)
      let counted = try #require(count)
      #expect(try context.fetch(counted) == [2])
      #expect(try model.fetchRequestTemplate(named: "None") == nil)
      let missing = persistError {
        _ = try model.fetchRequestFromTemplate(withName: "Best", substitutionVariables: ["RATING": 4])
      }
      #expect(missing?.code == .invalidRequest && missing?.message.contains("$ALIASES") == true)
      #expect(persistError { _ = try model.fetchRequestTemplate(named: "Odd") }?.code == .invalidRequest)
    }
  }

  @Test("A fetched property finds its objects when accessed, with the object's and its own values")
  func fetchedProperties() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let context = stack.context()
      let author = try context.named("Author", "Alessandro", by: "alias")
      #expect(comments(author["feedbacks"]) == ["interesting book", "great book", "Great novel"])
      #expect(comments(author["favFeedbacks"]) == ["Great novel", "great book"])
      let andrea = try context.named("Author", "Andrea", by: "alias")
      #expect(comments(andrea["feedbacks"]).isEmpty)
      #expect(persistError { try author.setValue([], forKey: "feedbacks") }?.code == .unknownProperty)
      let slot = try #require(author.entity.property(named: "feedbacks")).slot
      #expect(!author.hasChanges && author.fetched(at: slot).count == 3)
    }
  }

  @Test("A fetched property finds objects of all stores of the coordinator (REL-10)")
  func severalStores() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let second = try stack.coordinator.addInMemoryStore()
      let context = stack.context()
      for feedback in try context.fetch(FetchRequest("Feedback")) {
        let copy = try context.make("Feedback")
        for name in ["authorAlias", "comment", "rating"] { copy[name] = feedback[name] }
        try context.assign(copy, to: second)
      }
      try context.save()
      let fresh = stack.context()
      let author = try fresh.named("Author", "Alessandro", by: "alias")
      let found = comments(author["feedbacks"])
      #expect(found == ["interesting book", "great book", "Great novel"].flatMap { [$0, $0] })
      let inBoth = Set((author["feedbacks"] as? [ManagedObject] ?? []).map(\.objectID.storeIdentifier))
      #expect(inBoth == Set(stack.coordinator.persistentStores.map(\.identifier)))
      #expect(comments(author["favFeedbacks"]).count == 4)
      #expect(comments(try fresh.named("Author", "Andrea", by: "alias")["feedbacks"]).isEmpty)
    }
  }

  @Test("The results of a fetched property are kept until the object is refreshed")
  func cached() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let context = stack.context()
      let author = try context.named("Author", "Alessandro", by: "alias")
      #expect(comments(author["feedbacks"]).count == 3)
      let calls = stack.store.calls
      try context.make("Feedback", ["authorAlias": "Alessandro", "comment": "new", "rating": 0.5])
      #expect(comments(author["feedbacks"]).count == 3 && stack.store.calls <= calls + 1)
      context.refresh(author, mergeChanges: false)
      #expect(comments(author["feedbacks"]) == ["new", "interesting book", "great book", "Great novel"])
      try context.save()
      #expect(comments(author["feedbacks"]).first == "new")
      try context.make("Feedback", ["authorAlias": "Alessandro", "comment": "newest", "rating": 0.1])
      #expect(comments(author["feedbacks"]).first == "new")
      context.refresh(author, mergeChanges: true)
      #expect(comments(author["feedbacks"]).first == "newest")
    }
  }

  @Test("A fetched property spans all stores of the coordinator")
  func stores() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Self.model))
    let first = try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    try seed(context)
    let second = try coordinator.addInMemoryStore()
    var copies = BatchInsertRequest(
      "Feedback", (0..<3).map { ["authorAlias": "Alessandro", "comment": "copy", "rating": Double($0)] })
    copies.affectedStoreIdentifier = second.identifier
    try context.execute(copies)
    let author = try context.named("Author", "Alessandro", by: "alias")
    #expect(comments(author["feedbacks"]).count == 6)
    #expect(first.identifier != second.identifier)
  }
}
