import PersistTestSupport
import Testing

@testable import Persist

/// A controller always has the results of a fresh fetch, and its notifications transform the former results into the
/// new ones.
@Suite("Laws of fetched results")
struct FetchedResultsLawTests {
  @Test("Random edits, merges, saves, refreshes and resets keep the laws", .law("fetched-results", short: 10, long: 500))
  func laws() {
    forEachSeed { seed in
      try withStack(Staff.model) { stack in
        var run = try Run(stack, seed: seed)
        for _ in 0..<120 { try run.step() }
      }
    }
  }

  /// One kind of controller, with its delegate's notifications.
  private struct Watched {
    let controller: FetchedResultsController<ManagedObject>
    let follower = Follower()

    init(_ controller: FetchedResultsController<ManagedObject>) {
      self.controller = controller
      controller.delegate = follower
      follower.list = .init(controller)
    }
  }

  /// A list that is updated by the notifications alone.
  private final class Follower: FetchedResultsControllerDelegate {
    struct List: Equatable {
      var sections: [(name: String, objects: [ManagedObject])]

      init(_ controller: FetchedResultsController<ManagedObject>) {
        sections = (controller.sections ?? []).map { ($0.name, $0.objects) }
      }

      static func == (left: List, right: List) -> Bool {
        left.sections.elementsEqual(right.sections) { $0.name == $1.name && $0.objects == $1.objects }
      }
    }

    var list: List?
    private var removals: [ResultIndexPath] = []
    private var additions: [(ResultIndexPath, ManagedObject)] = []
    private var sections: [(Int, String, FetchedResultsChangeType)] = []

    func controllerWillChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
      (removals, additions, sections) = ([], [], [])
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>, didChange section: FetchedResultsSection<ManagedObject>,
      atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {
      sections.append((index, section.name, type))
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>, didChange object: ManagedObject,
      at indexPath: ResultIndexPath?, for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?
    ) {
      guard type != .update else { return }
      if let indexPath { removals.append(indexPath) }
      if let newIndexPath { additions.append((newIndexPath, object)) }
    }

    func controllerDidChangeContent(_ controller: FetchedResultsController<ManagedObject>) {
      for path in removals.sorted(by: >) { list?.sections[path.section].objects.remove(at: path.row) }
      for (index, _, type) in sections.sorted(by: { $0.0 > $1.0 }) where type == .delete {
        list?.sections.remove(at: index)
      }
      for (index, name, type) in sections.sorted(by: { $0.0 < $1.0 }) where type == .insert {
        list?.sections.insert((name, []), at: index)
      }
      for (path, object) in additions.sorted(by: { $0.0 < $1.0 }) {
        list?.sections[path.section].objects.insert(object, at: path.row)
      }
    }

    func controller(
      _ controller: FetchedResultsController<ManagedObject>, didChangeContentWith difference: FetchedResultsDifference
    ) {
      if difference.isReload { list = List(controller) }
    }
  }

  private struct Run {
    private let view: ManagedObjectContext
    private let other: ManagedObjectContext
    private var watched: [Watched] = []
    private var random: SeededRandom
    private var log: [String] = []

    init(_ stack: TestStack, seed: UInt64) throws {
      (view, other) = (stack.context(), stack.context())
      (view.mergePolicy, other.mergePolicy) = (.mergeByPropertyObjectTrump, .mergeByPropertyObjectTrump)
      random = SeededRandom(seed: seed)
      for _ in 0..<6 { try make(in: other) }
      try other.save()
      watched = [
        Watched(try Staff.controller(view, by: ["firstName"])),
        Watched(try Staff.controller(view, by: ["team", "salary"], where: "salary > 1", sections: "team")),
        // The order mixes the sections' objects.
        Watched(try Staff.controller(view, by: ["salary"], sections: "team")),
        Watched(try Staff.controller(view, by: ["group.name", "firstName"], sections: "group.name")),
      ]
      var window = try Staff.request(by: ["salary"])
      (window.fetchLimit, window.fetchOffset) = (4, 1)
      let controller = FetchedResultsController(fetchRequest: window, managedObjectContext: view)
      try controller.performFetch()
      watched.append(Watched(controller))
      view.automaticallyMergesChangesFromParent = true
      other.automaticallyMergesChangesFromParent = true
    }

    mutating func step() throws {
      switch Int.random(in: 0..<20, using: &random) {
      case 0...6: try edit(view, "view")
      case 7...11: try edit(other, "other")
      case 12...13: try save(other, "other")
      case 14...15: try save(view, "view")
      case 16:
        log.append("refresh all")
        view.refreshAllObjects()
      case 17:
        log.append("roll back")
        view.rollback()
      case 18:
        log.append("obtain identifiers")
        try view.obtainPermanentIDs(for: view.insertedObjects)
      default:
        log.append("reset")
        view.reset()
      }
      view.processPendingChanges()
      for (index, one) in watched.enumerated() { try check(one, "controller \(index)") }
    }

    private mutating func save(_ context: ManagedObjectContext, _ name: String) throws {
      log.append("save \(name)")
      try context.save()
      // Changes saved before the other context's reach both.
      try context.save()
    }

    private mutating func make(in context: ManagedObjectContext) throws {
      let person = try context.make(Bool.random(using: &random) ? "Person" : "Boss")
      try set(person, in: context)
    }

    private mutating func set(_ person: ManagedObject, in context: ManagedObjectContext) throws {
      person["firstName"] = ["Ann", "Ben", "Cem", "Dan"].randomElement(using: &random)
      let team = ["red", "blue", ""].randomElement(using: &random) ?? ""
      person["team"] = team.isEmpty ? nil : team
      person["salary"] = Int.random(in: 0..<5, using: &random)
    }

    private mutating func edit(_ context: ManagedObjectContext, _ name: String) throws {
      log.append("edit \(name)")
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let people = try context.fetch(FetchRequest("Person", sortedBy: "salary"))
        let groups = try context.fetch(FetchRequest("Group", sortedBy: "name"))
        let person = people.randomElement(using: &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0...1: try make(in: context)
        case 2...3: if let person { try set(person, in: context) }
        case 4: person?["lastName"] = "changed"
        case 5: if let person { context.delete(person) }
        case 6: person?["group"] = try groups.randomElement(using: &random) ?? context.make("Group", ["name": "new"])
        default: groups.randomElement(using: &random)?["name"] = ["x", "y", "z"].randomElement(using: &random)
        }
      }
    }

    private func check(_ watched: Watched, _ what: String) throws {
      let fresh = FetchedResultsController(
        fetchRequest: watched.controller.fetchRequest, managedObjectContext: view,
        sectionNameKeyPath: watched.controller.sectionNameKeyPath)
      try fresh.performFetch()
      let now = Follower.List(watched.controller)
      let place = "\(what) after \(log.count) steps, the last being \(log.suffix(6))"
      try #require(now == Follower.List(fresh), "not what a fetch finds: \(place)")
      try #require(watched.follower.list == now, "not what was told: \(place)")
      let objects = try view.fetch(watched.controller.fetchRequest)
      try #require(Set(watched.controller.fetchedObjects ?? []) == Set(objects), "other objects: \(place)")
      if watched.controller.sectionNameKeyPath == nil {
        try #require(watched.controller.fetchedObjects == objects, "another order: \(place)")
      }
      for (index, section) in (watched.controller.sections ?? []).enumerated() {
        for (row, object) in section.objects.enumerated() {
          try #require(watched.controller.indexPath(forObject: object) == ResultIndexPath(section: index, row: row))
        }
      }
    }
  }
}
