import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("History: reverting transactions")
struct RevertTests {
  private func withStack(_ body: (PersistentStoreCoordinator, ManagedObjectContext) throws -> Void) throws {
    try withHistory(options: StoreOptions(historyKeeps: .oldValues)) { coordinator, _ in
      try body(coordinator, ManagedObjectContext(coordinator))
    }
  }

  @Test("A revert leaves unsaved changes, which a rollback drops and a save writes as a transaction of its own")
  func unsaved() throws {
    try withStack { coordinator, context in
      let team = try context.make("Team", ["name": "A"])
      let anna = try context.make("Person", ["name": "Anna", "team": team])
      try context.save()
      let id = anna.objectID
      context.delete(team)
      try context.save()
      let deletion = try #require(coordinator.transactions().last)
      #expect(deletion.changes?.count == 2)
      try context.revert(deletion)
      #expect(context.insertedObjects.count == 2)
      context.rollback()
      try #expect(context.count(for: FetchRequest("Person")) == 0)
      try context.revert(deletion)
      try context.save()
      let other = ManagedObjectContext(coordinator)
      let back = try other.existingObject(with: id)
      #expect(back["name"] as? String == "Anna")
      #expect(back.one("team")?["name"] as? String == "A")
      // A context that still holds the deleted row must not mistake the new one for it.
      #expect((back.snapshot?.version ?? 0) > 1 << 20)
      try context.revert(#require(coordinator.transactions().last))
      try context.save()
      try #expect(other.count(for: FetchRequest("Person")) == 0)
    }
  }

  @Test("Transactions that changed the same objects are reverted one by one, from the last one")
  func oneByOne() throws {
    try withStack { coordinator, context in
      let team = try context.make("Team", ["name": "A"])
      let anna = try context.make("Person", ["name": "Anna", "age": 1])
      try context.save()
      let steps: [() throws -> Void] = [
        { anna["name"] = "B" }, { anna["name"] = "C" }, { anna["team"] = team }, { anna["team"] = nil },
        { anna["team"] = team }, { team["name"] = "Z" }, { anna["age"] = 2 }, { context.delete(anna) },
      ]
      for step in steps {
        try step()
        try context.save()
      }
      let other = ManagedObjectContext(coordinator)
      for transaction in try coordinator.transactions().suffix(steps.count).reversed() {
        try other.revert(transaction)
        try other.save()
      }
      let back = try #require(try other.fetch(FetchRequest("Person")).first)
      #expect(back["name"] as? String == "Anna" && back["age"] as? Int == 1 && back.one("team") == nil)
      #expect(try other.fetch(FetchRequest("Team")).map { $0["name"] as? String } == ["A"])
    }
  }

  @Test("The merge policy decides about what later transactions changed")
  func conflicts() throws {
    for (policy, name, age, isKept) in [
      (MergePolicy.error, "C", 2, true), (.mergeByPropertyStoreTrump, "C", 1, true), (.rollback, "C", 2, true),
      (.mergeByPropertyObjectTrump, "A", 1, false), (.overwrite, "A", 1, false),
    ] {
      try withStack { coordinator, context in
        let anna = try context.make("Person", ["name": "A", "age": 1])
        try context.save()
        try anna.setValue("B", forKey: "name")
        try anna.setValue(2, forKey: "age")
        let boris = try context.make("Person", ["name": "Boris"])
        try context.save()
        try anna.setValue("C", forKey: "name")
        try boris.setValue("Boris the second", forKey: "name")
        try context.save()
        context.mergePolicy = policy
        let transaction = try coordinator.transactions()[1]
        if policy.mergeType == .error {
          let error = #expect(throws: PersistenceError.self) { try context.revert(transaction) }
          #expect(error?.code == .mergeConflict)
          #expect(error?.errors.count == 2)
          #expect(!context.hasChanges)
        } else {
          try context.revert(transaction)
          try context.save()
        }
        #expect(anna["name"] as? String == name)
        #expect(anna["age"] as? Int == age)
        try #expect(context.count(for: FetchRequest("Person")) == (isKept ? 2 : 1))
      }
    }
  }

  @Test("A row that others inserted again first is a conflict for the merge policy, and not of a uniqueness constraint")
  func insertedFirst() throws {
    for policy in [MergePolicy.error, .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .rollback] {
      try withStack { coordinator, context in
        let tag = try context.make("Tag", ["label": "x"])
        let anna = try context.make("Person", ["name": "Anna", "age": 1])
        try anna.many("tags").insert(tag)
        try context.save()
        let id = anna.objectID
        context.delete(anna)
        try context.save()
        let deletion = try #require(coordinator.transactions().last)
        let others = (0..<2).map { _ in ManagedObjectContext(coordinator) }
        for other in others {
          other.mergePolicy = policy
          try other.revert(deletion)
        }
        others[0].object(with: id)["name"] = "first"
        others[1].object(with: id)["name"] = "second"
        try others[0].save()
        if policy.mergeType == .error {
          let error = #expect(throws: PersistenceError.self) { try others[1].save() }
          #expect(error?.code == .mergeConflict)
        } else {
          try others[1].save()
        }
        let reader = ManagedObjectContext(coordinator)
        let stored = try reader.existingObject(with: id)
        let wins = [.overwrite, .mergeByPropertyObjectTrump].contains(policy.mergeType)
        #expect(stored["name"] as? String == (wins ? "second" : "first"), "\(policy.mergeType)")
        try #expect(stored.many("tags").count == 1)
      }
    }
  }

  @Test("A transaction without changes or old values can't be reverted, and says why")
  func refusals() throws {
    try withHistory { coordinator, _ in
      let context = ManagedObjectContext(coordinator)
      let team = try context.make("Team", ["name": "A"])
      try context.save()
      try team.setValue("B", forKey: "name")
      try context.save()
      let transaction = try #require(coordinator.transactions().last)
      #expect(throws: PersistenceError.self) { try context.revert(transaction) }
      var query = HistoryQuery()
      query.includesChanges = false
      let bare = try #require(coordinator.transactions(query).last)
      #expect(throws: PersistenceError.self) { try context.revert(bare) }
      // An insertion needs no old values.
      context.mergePolicy = .overwrite
      try context.revert(coordinator.transactions()[0])
      try context.save()
      try #expect(context.count(for: FetchRequest("Team")) == 0)
    }
  }

  @Test(
    "A revert begins with the newest rows, and merging the reverted changes later doesn't undo it",
    arguments: [true, false], [true, false])
  func newestRows(isDeletion: Bool, isMerging: Bool) throws {
    try withStack { coordinator, context in
      context.automaticallyMergesChangesFromParent = isMerging
      let anna = try context.make("Person", ["name": "Anna"])
      try context.save()
      let other = ManagedObjectContext(coordinator)
      let theirs = try other.existingObject(with: anna.objectID)
      if isDeletion { other.delete(theirs) } else { try theirs.setValue("Bea", forKey: "name") }
      try other.save()
      try context.revert(#require(coordinator.transactions().last))
      try context.save()
      try #expect(ManagedObjectContext(coordinator).names("Person") == ["Anna"])
    }
  }
}
