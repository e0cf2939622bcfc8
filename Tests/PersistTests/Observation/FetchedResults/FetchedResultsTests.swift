import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Fetched results controller")
struct FetchedResultsTests {
  private func names(_ controller: FetchedResultsController<ManagedObject>) -> [String] {
    (controller.fetchedObjects ?? []).compactMap { $0["firstName"] as? String }
  }

  /// A controller by team with Alice in Engineering, and its delegate's notifications.
  private func withTeams(
    _ body: (ManagedObjectContext, FetchedResultsController<ManagedObject>, ResultsRecorder) throws -> Void
  ) throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      try context.person("Alice", team: "Engineering")
      try context.save()
      let controller = try Staff.controller(context, by: ["team", "firstName"], sections: "team")
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      try body(context, controller, recorder)
    }
  }

  @Test("FRC-01: without sections there is one, in order; index paths lead to objects and back")
  func oneSection() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      for name in ["Carol", "Alice", "Bob"] { try context.person(name) }
      let controller = FetchedResultsController(
        fetchRequest: try Staff.request(), managedObjectContext: context)
      #expect(controller.sections == nil && controller.fetchedObjects == nil)
      try controller.performFetch()
      #expect(names(controller) == ["Alice", "Bob", "Carol"])
      #expect(controller.sections?.map(\.numberOfObjects) == [3])
      let bob = controller.object(at: ResultIndexPath(section: 0, row: 1))
      #expect(bob["firstName"] as? String == "Bob")
      #expect(controller.indexPath(forObject: bob) == ResultIndexPath(row: 1, section: 0))
    }
  }

  @Test("The condition is evaluated for all changed objects together, which scans a long list only once")
  func longList() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      let list = (0..<1000).map { FetchExpression.constant(.string("name\($0)")) }
      var request = try Staff.request()
      request.predicate = .compare(.key("firstName"), .in, .aggregate(list))
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      try controller.performFetch()
      for number in 0..<250 { try context.person("name\(number * 8)") }
      context.processPendingChanges()
      #expect(controller.fetchedObjects?.count == 125)
      #expect(controller.evaluatorCount == 1)
    }
  }

  @Test("FRC-02: by team there are two sections in order")
  func sections() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      try context.person("Alice", team: "Engineering")
      let carol = try context.person("Carol", team: "Sales")
      try context.person("Bob", team: "Engineering")
      let controller = try Staff.controller(context, by: ["team", "firstName"], sections: "team")
      #expect(controller.sections?.map(\.name) == ["Engineering", "Sales"])
      #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
      #expect(controller.indexPath(forObject: carol) == ResultIndexPath(section: 1, row: 0))
      #expect(controller.object(at: ResultIndexPath(section: 1, row: 0)) === carol)
    }
  }

  @Test("FRC-04: a new object is one insertion, and a new section comes before its object")
  func insertions() throws {
    try withTeams { context, controller, recorder in
      try context.person("Bob", team: "Engineering")
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "insert - (0, 1)", "did"])
      recorder.forget()
      try context.person("Carol", team: "Sales")
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "section insert Sales 1", "insert - (1, 0)", "did"])
    }
  }

  @Test("FRC-05: a deletion and an update are reported with index paths; the last object removes its section")
  func deletionAndUpdate() throws {
    try withTeams { context, controller, recorder in
      let bob = try context.person("Bob", team: "Engineering")
      let carol = try context.person("Carol", team: "Sales")
      try context.save()
      recorder.forget()
      context.delete(bob)
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "delete (0, 1) -", "did"])
      recorder.forget()
      controller.object(at: ResultIndexPath(section: 0, row: 0))["salary"] = 9
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "update (0, 0) (0, 0)", "did"])
      recorder.forget()
      context.delete(carol)
      try context.save()
      #expect(recorder.calls == ["will", "section delete Sales 1", "delete (1, 0) -", "did"])
    }
  }

  @Test("FRC-07: an object that stops matching is removed, and inserted when it matches again")
  func predicate() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      let alice = try context.person("Alice", salary: 9)
      let controller = try Staff.controller(context, where: "salary > 5")
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      alice["salary"] = 1
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "delete (0, 0) -", "did"])
      #expect(controller.indexPath(forObject: alice) == nil)
      recorder.forget()
      alice["salary"] = 6
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "insert - (0, 0)", "did"])
    }
  }

  @Test("FRC-08: several changes at once are two insertions, a deletion, a move and two updates")
  func severalChanges() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      for index in 10..<30 { try context.person("a\(index)") }
      try context.save()
      var request = try Staff.request()
      request.sortDescriptors = [FetchSortDescriptor("firstName", isAscending: false)]
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      try controller.performFetch()
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      let people = try #require(controller.fetchedObjects)
      context.delete(people[0])
      people[4]["lastName"] = "changed"
      people[7]["lastName"] = "changed"
      people[19]["firstName"] = "moved"
      try context.person("zzz1")
      try context.person("zzz2")
      context.processPendingChanges()
      #expect(
        recorder.calls == [
          "will", "delete (0, 0) -", "insert - (0, 0)", "insert - (0, 1)", "move (0, 19) (0, 2)",
          "update (0, 4) (0, 6)", "update (0, 7) (0, 9)", "did",
        ])
    }
  }

  @Test("A change of a sort value is a move, even to the same place; and to another section")
  func moves() throws {
    try withTeams { context, controller, recorder in
      let alice = controller.object(at: ResultIndexPath(section: 0, row: 0))
      alice["firstName"] = "Anna"
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "move (0, 0) (0, 0)", "did"])
      recorder.forget()
      alice["team"] = "Sales"
      context.processPendingChanges()
      #expect(
        recorder.calls == [
          "will", "section delete Engineering 0", "section insert Sales 0", "move (0, 0) (0, 0)", "did",
        ])
    }
  }

  @Test("FRC-10: an object that stops matching by a saved change is deleted once")
  func savedChange() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      let alice = try context.person("Alice", salary: 9)
      try context.save()
      let controller = try Staff.controller(context, where: "salary == 9")
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      alice["salary"] = 1
      try context.save()
      #expect(recorder.calls == ["will", "delete (0, 0) -", "did"])
      #expect(controller.fetchedObjects == [])
    }
  }

  @Test("FRC-11: refreshing all reports only updates")
  func refreshAll() throws {
    try withTeams { context, _, recorder in
      context.refreshAllObjects()
      #expect(recorder.calls == ["will", "update (0, 0) (0, 0)", "did"])
    }
  }

  @Test("FRC-13: a reset with pending changes reports no object, and the results are fetched anew")
  func reset() throws {
    try withTeams { context, controller, recorder in
      controller.object(at: ResultIndexPath(section: 0, row: 0))["firstName"] = "unsaved"
      try context.person("new")
      context.reset()
      #expect(recorder.calls == [])
      #expect(recorder.differences.map(\.isReload) == [true])
      #expect(names(controller) == ["Alice"])
    }
  }

  @Test("FRC-14: the first object of an empty list: will change, section, object, did change")
  func order() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      let controller = try Staff.controller(context, by: ["team", "firstName"], sections: "team")
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      #expect(controller.sections?.isEmpty == true)
      try context.person("Alice", team: "Engineering")
      context.processPendingChanges()
      #expect(recorder.calls == ["will", "section insert Engineering 0", "insert - (0, 0)", "did"])
    }
  }

  @Test("The former results remain until will-change has been reported")
  func contentDuringCalls() throws {
    final class Looker: FetchedResultsControllerDelegate {
      var counts: [Int] = []
      func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
        counts.append(controller.numberOfObjects)
      }
      func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
        counts.append(controller.numberOfObjects)
      }
    }
    try withTeams { context, controller, _ in
      let looker = Looker()
      controller.delegate = looker
      try context.person("Bob", team: "Engineering")
      context.processPendingChanges()
      #expect(looker.counts == [1, 2])
    }
  }

  @Test("An index has the first letters of sections, and maps a letter to its first section")
  func indexTitles() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      for team in ["development", "design", "sales"] { try context.person("x", team: team) }
      try context.person("teamless")
      let controller = try Staff.controller(context, by: ["team"], sections: "team")
      #expect(controller.sections?.map(\.name) == ["", "design", "development", "sales"])
      #expect(controller.sectionIndexTitles == ["D", "S"])
      #expect(controller.section(forSectionIndexTitle: "S", at: 1) == 3)
      #expect(controller.section(forSectionIndexTitle: "D", at: 0) == 1)
      #expect(controller.section(forSectionIndexTitle: "X", at: 9) == nil)
    }
  }

  @Test("A program may name the sections")
  func computedSections() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      for name in ["Anna", "Alice", "Bob"] { try context.person(name) }
      let controller = FetchedResultsController(
        fetchRequest: try Staff.request(), managedObjectContext: context
      ) { ($0["firstName"] as? String).map { String($0.prefix(1)) } }
      try controller.performFetch()
      #expect(controller.sections?.map(\.name) == ["A", "B"])
      #expect(controller.sections?.first?.objects.count == 2)
    }
  }

  @Test("Sections by a date have names, also for dates that Foundation can't describe")
  func dates() throws {
    let event = EntityDescription("Event", attributes: [AttributeDescription("day", .date)])
    try withStack(ModelDescription(entities: [event])) { stack in
      let context = stack.context()
      for seconds in [0, 1e12] { try context.make("Event", ["day": Date(timeIntervalSinceReferenceDate: seconds)]) }
      let controller = FetchedResultsController(
        fetchRequest: FetchRequest<ManagedObject>("Event", sortedBy: "day"), managedObjectContext: context,
        sectionNameKeyPath: "day")
      try controller.performFetch()
      let first = Date(timeIntervalSinceReferenceDate: 0).description
      #expect(controller.sections?.map(\.name) == [first, "1000000000000 seconds after 2001"])
    }
  }

  @Test("A section by an unknown property is an error")
  func errors() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      #expect(persistError { _ = try Staff.controller(context, sections: "nothing") }?.code == .unknownProperty)
    }
  }
}
