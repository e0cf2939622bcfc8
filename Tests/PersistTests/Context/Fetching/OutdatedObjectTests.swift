import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// A fetch finds what the stores have now, whatever the context's registered objects have read before.
@Suite("Fetching over outdated objects")
struct OutdatedObjectTests {
  @Test(
    "A context with outdated objects finds what a new one finds, in every form of fetch",
    .law("outdated-objects", short: 250, long: 30_000))
  func everyForm() throws {
    try withStack(PredicateAgreementTests.model) { stack in
      var generator = RandomPredicate(random: SeededGenerator(seed: 5), model: stack.model, ids: [])
      let others = stack.context()
      try generator.fill(others, count: 90)
      try others.save()
      let outdated = stack.context()
      let held = try Self.readEverything(outdated)
      defer { withExtendedLifetime(held) {} }
      try Self.change(others, &generator)
      try others.save()
      generator.ids = held.map(\.objectID)
      var telling = 0
      let rounds = forEachSeed { seed in
        generator.random = SeededGenerator(seed: seed)
        let entity = generator.pick(stack.model.entities)
        var request = FetchRequest<ManagedObject>(entity.name)
        request.predicate = generator.predicate(over: entity)
        request.sortDescriptors = Self.order(of: entity, &generator)
        if generator.chance(20) { (request.fetchLimit, request.fetchOffset) = (generator.pick([1, 5, 20]), 2) }
        guard let wanted = try? stack.context().fetch(request).map(\.objectID) else {
          #expect(throws: (any Error).self) { try outdated.fetch(request) }
          return
        }
        try Self.expect(request, over: outdated, finds: wanted)
        if !wanted.isEmpty { telling += 1 }
        #expect(!outdated.hasChanges)
      }
      if rounds > 100 { #expect(telling > rounds / 4) }
    }
  }

  private static func expect(
    _ request: FetchRequest<ManagedObject>, over context: ManagedObjectContext, finds wanted: [ManagedObjectID]
  ) throws {
    let form = "\(request.entityName): \(request.predicate.map { "\($0)" } ?? "") by \(request.sortDescriptors)"
    #expect(try context.fetch(request).map(\.objectID) == wanted, "\(form)")
    #expect(try context.fetchObjectIDs(request) == wanted, "identifiers of \(form)")
    #expect(try context.count(for: request) == wanted.count, "count of \(form)")
    #expect(try context.fetchBatched(request).map(\.objectID) == wanted, "batches of \(form)")
    #expect(
      try ManagedObjectContext(parent: context).fetch(request).map(\.objectID) == wanted, "a child's \(form)")
    var walked: [ManagedObjectID] = []
    try context.forEachBatch(of: request, size: 7) { walked += $0.map(\.objectID) }
    #expect(walked == wanted, "a walk through \(form)")
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    try controller.performFetch()
    #expect(controller.fetchedObjects?.map(\.objectID) == wanted, "a controller of \(form)")
  }

  /// Reads the values and members of every object.
  private static func readEverything(_ context: ManagedObjectContext) throws -> [ManagedObject] {
    let objects = try ["Item", "Person", "Tag"].flatMap { try context.fetch(FetchRequest($0)) }
    for object in objects {
      for relationship in object.entity.relationships {
        if relationship.isToMany { _ = try object.many(relationship.name).map(\.objectID) }
        else { _ = object[relationship.name] }
      }
      _ = object.isFault
    }
    return objects
  }

  private static func change(_ context: ManagedObjectContext, _ generator: inout RandomPredicate) throws {
    try generator.fill(context, count: 20)
    let objects = try ["Item", "Person", "Tag"].flatMap { try context.fetch(FetchRequest($0)) }
    for object in objects where generator.chance(60) {
      if generator.chance(10) {
        context.delete(object)
        continue
      }
      for property in object.entity.properties where generator.chance(50) {
        guard let attribute = property.attribute, attribute.type != .composite else { continue }
        object.setAttributeValue(generator.value(of: attribute.type), at: property.slot)
      }
      for relationship in object.entity.relationships where generator.chance(40) {
        let destination = context.persistentStoreCoordinator.managedObjectModel.destination(of: relationship)
        let others = objects.filter { $0.entity.isKind(of: destination) && !$0.isDeleted }
        guard !others.isEmpty else { continue }
        if relationship.isToMany {
          object[relationship.name] = Set((0..<3).map { _ in generator.pick(others) })
        } else {
          object[relationship.name] = generator.pick(others)
        }
      }
    }
  }

  private static func order(of entity: Entity, _ generator: inout RandomPredicate) -> [FetchSortDescriptor] {
    let keys = entity.name == "Tag" ? ["rank", "label"] : entity.name == "Person" ? ["age", "name", "best.rank"]
      : ["int16", "string", "owner.age", "decimal", "point.x"]
    return (0..<generator.pick([0, 1, 2])).map { _ in
      FetchSortDescriptor(key: generator.pick(keys), ascending: generator.chance(50))
    }
  }

  @Test("Rows of several stores are merged by their present values, not by those of outdated objects")
  func severalStores() throws {
    let model = try ManagedObjectModel(SampleModels.people)
    let coordinator = PersistentStoreCoordinator(model: model)
    let stores = try (0..<2).map { _ in try coordinator.addInMemoryStore() }
    let others = ManagedObjectContext(coordinator)
    var people: [ManagedObject] = []
    for number in 0..<6 {
      let person = try others.make("Person", ["name": "\(number)", "salary": number])
      try others.assign(person, to: stores[number % 2])
      people.append(person)
    }
    try others.save()
    let outdated = ManagedObjectContext(coordinator)
    let request = FetchRequest<ManagedObject>("Person", sortedBy: "salary")
    let held = try outdated.fetch(request)
    #expect(held.map { $0["name"] as? String } == ["0", "1", "2", "3", "4", "5"])
    for (place, person) in people.enumerated() { person["salary"] = [5, 1, 3, 0, 4, 2][place] }
    try others.save()
    #expect(try outdated.fetch(request).map { $0["name"] as? String } == ["3", "1", "5", "2", "4", "0"])
    withExtendedLifetime(held) {}
  }

  @Test(
    "A new object has its place among the present values of others' objects",
    .law("places of new objects", short: 60, long: 5000))
  func places() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      try withStack(SampleModels.pets) { stack in
        let others = stack.context()
        func name() -> String { ["a", "b", "c", "d", "e"].randomElement(using: &random) ?? "" }
        let people = try (0..<5).map { _ in try others.make("Person", ["name": name()]) }
        let pets = try (0..<8).map { _ in
          try others.make("Pet", ["name": name(), "owner": people.randomElement(using: &random) ?? people[0]])
        }
        try others.save()
        let context = stack.context()
        let held = try context.fetch(FetchRequest("Person")) + context.fetch(FetchRequest("Pet"))
        for object in held { _ = object["name"] }
        for object in people + pets where Bool.random(using: &random) { object["name"] = name() }
        for pet in pets where Bool.random(using: &random) {
          pet["owner"] = people.randomElement(using: &random) ?? people[0]
        }
        try others.save()
        let keys = [["name"], ["owner.name", "name"]].randomElement(using: &random) ?? []
        let request = FetchRequest<ManagedObject>(
          "Pet", sortedBy: keys.map { FetchSortDescriptor(key: $0, ascending: Bool.random(using: &random)) })
        let fresh = stack.context()
        let new = name()
        func found(_ context: ManagedObjectContext) throws -> [String] {
          let pet = try context.make("Pet", ["name": new])
          return try context.fetch(request).map { $0 === pet ? "new" : "\($0.objectID.primaryKey ?? 0)" }
        }
        #expect(try found(context) == found(fresh), "seed \(seed): by \(keys)")
        #expect(try context.fetchBatched(request).count == 9)
        withExtendedLifetime(held) {}
      }
    }
  }

  @Test("Unsaved changes and transient values of registered objects count, and others' rows are the newest")
  func unsaved() throws {
    try withStack(SampleModels.pets) { stack in
      let others = stack.context()
      let ann = try others.make("Person", ["name": "Ann"])
      let bob = try others.make("Person", ["name": "Bob"])
      let rex = try others.make("Pet", ["name": "Rex", "owner": ann])
      try others.make("Pet", ["name": "Tom", "owner": bob])
      try others.save()
      let context = stack.context()
      let held = try context.fetch(FetchRequest("Person")) + context.fetch(FetchRequest("Pet"))
      for object in held where object.entity.name == "Person" { _ = try object.many("pets").map(\.label) }
      rex["name"] = "Max"
      try others.save()
      // A function that no store evaluates.
      let request = try FetchRequest<ManagedObject>(
        "Person", where: "SUBQUERY(pets, $p, FUNCTION($p.name, 'length') == 3 AND $p.name == 'Max').@count == 1",
        sortedBy: [.init("name")])
      #expect(try names(context.fetch(request)) == ["Ann"])
      try context.named("Pet", "Tom")["name"] = "Max"
      #expect(try names(context.fetch(request)) == ["Ann", "Bob"])
      withExtendedLifetime(held) {}
    }
  }
}
