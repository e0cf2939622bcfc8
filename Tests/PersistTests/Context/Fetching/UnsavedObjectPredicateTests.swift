import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// A predicate that contains an unsaved object matches that object before and after the save.
@Suite("Predicates over unsaved objects")
struct UnsavedObjectPredicateTests {
  /// By name: a predicate, its entity, and the expected results.
  private func predicates(
    _ owner: ManagedObject, _ pet: ManagedObject
  ) throws -> [(FetchPredicate, entity: String, finds: [String])] {
    [
      (try FetchPredicate("owner == %@", owner), "Pet", ["Rex"]),
      (try FetchPredicate("owner != %@", owner), "Pet", ["Old"]),
      (try FetchPredicate("owner IN %@", [owner]), "Pet", ["Rex"]),
      (try FetchPredicate("ANY pets == %@", pet), "Person", ["Ann"]),
      (try FetchPredicate("ANY pets IN %@", [pet]), "Person", ["Ann"]),
      (try FetchPredicate("pets CONTAINS %@", pet), "Person", ["Ann"]),
      (try FetchPredicate("SUBQUERY(pets, $p, $p == %@).@count > 0", pet), "Person", ["Ann"]),
      (try FetchPredicate("SELF == %@", owner), "Person", ["Ann"]),
      (try FetchPredicate("SELF IN %@", [owner]), "Person", ["Ann"]),
      (try FetchPredicate("objectID == %@", owner.objectID), "Person", ["Ann"]),
      (try FetchPredicate("NOT (SELF IN %@)", [pet]), "Pet", ["Old"]),
      (try FetchPredicate("owner == $owner").substituting(["owner": owner]), "Pet", ["Rex"]),
      (.compare(.key("owner"), .equal, owner.fetchExpression), "Pet", ["Rex"]),
      (.compare(.current, .in, .aggregate([.constant(.objectID(pet.objectID))])), "Pet", ["Rex"]),
    ]
  }

  private func check(
    _ predicates: [(FetchPredicate, entity: String, finds: [String])], in context: ManagedObjectContext, _ what: String
  ) throws {
    for (predicate, entity, names) in predicates {
      var request = FetchRequest<ManagedObject>(entity)
      request.predicate = predicate
      #expect(try context.fetch(request).compactMap { $0["name"] as? String } == names, "\(what): \(predicate)")
      #expect(try context.count(for: request) == names.count, "\(what): count of \(predicate)")
      #expect(try context.fetchObjectIDs(request).count == names.count, "\(what): identifiers of \(predicate)")
      let all = try context.fetch(FetchRequest(entity))
      let found = try all.filter { try predicate.evaluate(with: $0) }
      #expect(found.compactMap { $0["name"] as? String } == names, "\(what), in memory: \(predicate)")
    }
  }

  private func withUnsavedOwner(
    _ body: (TestStack, ManagedObjectContext, ManagedObject, ManagedObject) throws -> Void
  ) throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      try context.make("Pet", ["name": "Old"])
      try context.save()
      let owner = try context.make("Person", ["name": "Ann"])
      try body(stack, context, owner, try context.make("Pet", ["name": "Rex", "owner": owner]))
    }
  }

  @Test("They return the same before and after the save, in every form, and in other contexts")
  func save() throws {
    try withUnsavedOwner { stack, context, owner, pet in
      let predicates = try predicates(owner, pet)
      try check(predicates, in: context, "before the save")
      try context.obtainPermanentIDs(for: [pet])
      try check(predicates, in: context, "with a permanent identifier")
      try context.save()
      try check(predicates, in: context, "after the save")
      context.reset()
      try check(predicates, in: context, "after a reset")
      try check(predicates, in: stack.context(), "in another context")
      try check(predicates, in: ManagedObjectContext(parent: stack.context()), "in a child")
      let shown = predicates.map { "\($0.0)" }.filter { $0.contains("x-coredata:///") }
      #expect(shown == [], "what is shown of them leads to nothing once it is read again")
    }
  }

  @Test("They return the same through the saves of a child and its parents")
  func children() throws {
    try withStack(SampleModels.pets) { stack in
      let root = stack.context()
      try root.make("Pet", ["name": "Old"])
      try root.save()
      let middle = ManagedObjectContext(parent: root)
      let child = ManagedObjectContext(parent: middle)
      let predicates = try {
        let owner = try child.make("Person", ["name": "Ann"])
        return try self.predicates(owner, try child.make("Pet", ["name": "Rex", "owner": owner]))
      }()
      var contexts = [child]
      for (context, above) in [(child, middle), (middle, root), (root, nil)] {
        for one in contexts { try check(predicates, in: one, "before a save") }
        try context.save()
        if let above { contexts += [above, ManagedObjectContext(parent: above)] }
        for one in contexts { try check(predicates, in: one, "after a save") }
      }
      try check(predicates, in: stack.context(), "in another context")
    }
  }

  @Test("The temporary identifier of an object that was saved leads to it")
  func temporaryIdentifiers() throws {
    try withUnsavedOwner { stack, context, owner, pet in
      let (id, petID) = (owner.objectID, pet.objectID)
      try context.obtainPermanentIDs(for: [pet])
      #expect(context.object(with: petID) === pet && context.registeredObject(for: petID) === pet)
      try context.save()
      #expect(id.isTemporaryID && owner.objectID != id)
      #expect(context.object(with: id) === owner && context.registeredObject(for: id) === owner)
      #expect(try context.existingObject(with: id) === owner)
      #expect(try context.fetch(FetchRequest<ManagedObject>("Person", objectIDs: [id])) == [owner])
      let other = stack.context()
      #expect(other.registeredObject(for: id) == nil)
      #expect(try other.existingObject(with: id)["name"] as? String == "Ann")
      context.delete(owner)
      try context.save()
      #expect(throws: PersistenceError.self) { try context.existingObject(with: id) }
      #expect(context.registeredObject(for: id) == nil)
    }
  }

  @Test("A temporary identifier of an object that was never saved leads to nothing")
  func discarded() throws {
    try withUnsavedOwner { _, context, owner, _ in
      let id = owner.objectID
      context.rollback()
      #expect(context.registeredObject(for: id) == nil)
      #expect(throws: PersistenceError.self) { try context.existingObject(with: id) }
    }
  }

  @Test("A results controller over the members of a new object continues to follow them after the save")
  func controller() throws {
    try withUnsavedOwner { _, context, owner, pet in
      var request = FetchRequest<ManagedObject>("Pet", sortedBy: "name")
      request.predicate = try FetchPredicate("owner == %@", owner)
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      try controller.performFetch()
      #expect(controller.fetchedObjects == [pet])
      try context.save()
      #expect(controller.fetchedObjects == [pet])
      let second = try context.make("Pet", ["name": "Aga", "owner": owner])
      context.processPendingChanges()
      #expect(controller.fetchedObjects == [second, pet])
      pet["name"] = "A"
      try context.save()
      #expect(controller.fetchedObjects == [pet, second])
      try controller.performFetch()
      #expect(controller.fetchedObjects == [pet, second])
    }
  }

  @Test("Batches spare, change and delete the object that the predicate contains")
  func batches() throws {
    try withUnsavedOwner { stack, context, owner, pet in
      var others = FetchRequest<ManagedObject>("Pet")
      others.predicate = try FetchPredicate("NOT (SELF IN %@)", [pet])
      let hers = try FetchPredicate("owner == %@", owner)
      try context.save()
      let update = BatchUpdateRequest("Pet", where: hers, set: ["name": .constant(.string("Rexie"))])
      #expect(try context.execute(update).count == 1)
      #expect(try context.execute(BatchDeleteRequest(others, resultType: .resultTypeCount)).count == 1)
      #expect(try stack.reopened().context().names("Pet") == ["Rexie"])
    }
  }
}
