import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law, over random work of a context, its child, others who save, undo, merging, refreshing, rolling back and
/// resetting: an observer that has read something is notified if it differs, and is notified of nothing that it hasn't
/// read.
@Suite("Observation under random work")
struct TrackingLawTests {
  private static let model: ManagedObjectModel? = {
    var description = RandomGraph.model
    description.composites = [
      CompositeDescription("Point", elements: [AttributeDescription("x", .double), AttributeDescription("y", .double)])
    ]
    description.entities[0].attributes += [
      AttributeDescription("place", .composite, compositeName: "Point"),
      AttributeDescription("mood", .string, isTransient: true),
      AttributeDescription("capitals", .string, derivation: "uppercase:(name)"),
    ]
    return try? ManagedObjectModel(description)
  }()

  @Test("Every difference was notified, and only of properties that were read", .law("tracking", short: 12, long: 2000))
  func work() throws {
    let model = try #require(Self.model)
    forEachSeed { seed in
      do {
        try withTemporaryStore { url in
          let run = try Run(seed, TestStack(model, at: url))
          for _ in 0..<80 { run.step() }
          run.end()
        }
      } catch {
        Issue.record(error)
      }
    }
  }

  private struct Observer {
    let object: ManagedObject
    let reading: TrackedReading
    let shown: TrackedReading.Shown
    let told: Told
  }

  private final class Run {
    private var random: SeededRandom
    private let stack: TestStack
    private let main: ManagedObjectContext
    private let child: ManagedObjectContext
    private let other: ManagedObjectContext
    private var graphs: [RandomGraph]
    private var observers: [Observer] = []
    private var held: [ManagedObject] = []
    private var log: [String] = []

    init(_ seed: UInt64, _ stack: TestStack) throws {
      random = SeededRandom(seed: seed)
      self.stack = stack
      main = stack.context()
      child = ManagedObjectContext(parent: main)
      other = stack.context()
      for context in [main, child] {
        if Bool.random(using: &random) { context.undoManager = .init() }
        context.automaticallyMergesChangesFromParent = Bool.random(using: &random)
        context.mergePolicy =
          [.mergeByPropertyStoreTrump, .mergeByPropertyObjectTrump, .overwrite, .rollback, .error]
          .randomElement(using: &random) ?? .error
      }
      other.mergePolicy = .mergeByPropertyObjectTrump
      graphs = zip([main, child, other], seed...).map { RandomGraph($0, seed: $1) }
      for _ in 0..<15 { try? graphs[0].edit() }
      try? main.save()
    }

    func step() {
      for _ in 0..<Int.random(in: 0..<8, using: &random) { observe() }
      let name: String
      do { name = try work() } catch { name = "failed: \(error)" }
      log.append(name)
      check()
    }

    /// Everything still observed is compared once more after the objects have left their contexts.
    func end() {
      for _ in 0..<20 { observe() }
      child.reset()
      log.append("reset child")
      check()
      main.reset()
      log.append("reset main")
      check()
    }

    private func observe() {
      let context = Bool.random(using: &random) ? main : child
      let objects = context.liveObjects.sorted { "\($0.objectID)" < "\($1.objectID)" }
      guard let object = objects.randomElement(using: &random) else { return }
      let reading = TrackedReading.random(of: object, using: &random)
      held.append(object)
      do {
        let (shown, told) = try tracking { try reading.read(object) { held.append($0) } }
        observers.append(Observer(object: object, reading: reading, shown: shown, told: told))
      } catch {
        Issue.record(error)
      }
    }

    private func check() {
      // Reading may discover a missing row: everything is read before it is judged.
      let present = observers.map { observer in
        try? observer.reading.read(observer.object) { held.append($0) }
      }
      for (observer, now) in zip(observers, present)
      where now != observer.shown && observer.told.count == 0
        && !observer.reading.dependsOnUnmergedRows(of: observer.object)
      {
        let object = observer.object
        let index = object.table.map { $0.context === main ? "0" : "1" } ?? "none"
        Issue.record(
          """
          \(object) (context \(index), \(object.change), \(object.loading)) \(observer.reading) was \(observer.shown), is \(String(describing: now)), and nobody was told.
          \(log.suffix(6).joined(separator: ", "))
          """)
        observer.told.tell()
      }
      #expect(observers.allSatisfy { $0.told.count <= 1 })
      observers.removeAll { $0.told.count > 0 }
    }

    private func adopt(_ index: Int) throws {
      let context = [main, child, other][index]
      graphs[index].objects += try RandomGraph.everything(in: context)
    }

    private func work() throws -> String {
      let index = Int.random(in: 0..<2, using: &random)
      let context = [main, child][index]
      switch Int.random(in: 0..<34, using: &random) {
      case 0...9:
        try graphs[index].edit()
        return "edit \(index)"
      case 10...13: return try setAlone(context)
      case 14:
        try adopt(index)
        return "fetch \(index)"
      case 15, 16, 17:
        try adopt(2)
        for _ in 0..<4 { try graphs[2].edit() }
        let saved = try other.didSaveChanges { try other.save() }
        graphs[2].objects = []
        if let saved, Bool.random(using: &random) {
          main.mergeChanges(from: saved)
          return "other saves, merged"
        }
        return "other saves"
      case 18, 19:
        context.processPendingChanges()
        return "process \(index)"
      case 20, 21, 22:
        do { try context.save() } catch {
          context.rollback()
          return "save \(index) failed, rolled back"
        }
        return "save \(index)"
      case 23, 24:
        guard let object = context.liveObjects.sorted(by: { "\($0.objectID)" < "\($1.objectID)" })
          .randomElement(using: &random)
        else { return "nothing" }
        let merges = Bool.random(using: &random)
        context.refresh(object, mergeChanges: merges)
        return "refresh \(object) of \(index) merging \(merges)"
      case 25:
        context.refreshAllObjects()
        return "refresh all of \(index)"
      case 26:
        context.rollback()
        return "roll back \(index)"
      case 27, 28:
        context.undo()
        return "undo \(index)"
      case 29:
        context.redo()
        return "redo \(index)"
      case 30:
        try context.obtainPermanentIDs(for: context.insertedObjects)
        return "permanent identifiers of \(index)"
      case 31:
        var request = FetchRequest<ManagedObject>("Node")
        request.shouldRefreshRefetchedObjects = true
        _ = try context.fetch(request)
        return "fetch anew in \(index)"
      case 32:
        guard Int.random(in: 0..<4, using: &random) == 0 else { return "nothing" }
        context.reset()
        return "reset \(index)"
      default:
        let objects = context.liveObjects.filter { $0.change != .deleted }
        if let object = objects.sorted(by: { "\($0.objectID)" < "\($1.objectID)" }).randomElement(using: &random) {
          context.delete(object)
        }
        return "delete in \(index)"
      }
    }

    /// Sets one attribute of one object, on which nothing else depends.
    private func setAlone(_ context: ManagedObjectContext) throws -> String {
      let objects = context.liveObjects.filter { $0.change != .deleted && $0.table?.context === context }
      guard let object = objects.sorted(by: { "\($0.objectID)" < "\($1.objectID)" }).randomElement(using: &random)
      else { return "nothing" }
      object.fulfill()
      let before = observers.map(\.told.count)
      let names = object.layout.properties.filter { $0.attribute != nil && $0.attribute?.derivation == nil }.map(\.name)
      let name = names.randomElement(using: &random) ?? "name"
      let value: Any =
        switch name {
        case "value": Int.random(in: 0..<9, using: &random)
        case "place": ["x": Double.random(in: 0..<9, using: &random)]
        default: "text \(Int.random(in: 0..<9, using: &random))"
        }
      if Bool.random(using: &random) {
        try object.setPrimitiveValue(value, forKey: name)
      } else {
        try object.setValue(value, forKey: name)
      }
      let slot = try #require(object.layout.entity.slot(named: name))
      for (observer, before) in zip(observers, before) where observer.told.count > before {
        let observed = observer.reading.observed(of: observer.object)
        let wasConcerned =
          observer.object === object && [ObservedProperty(slot: slot), .state, .whole].contains(observed)
        #expect(wasConcerned, "\(observer.reading) of \(observer.object) was told of \(name) of \(object)")
      }
      return "set \(name) of \(object)"
    }
  }
}

extension ManagedObjectContext {
  /// The changes saved within a body; nil for none.
  fileprivate func didSaveChanges(_ body: () throws -> Void) rethrows -> SavedChanges? {
    var saved: SavedChanges?
    let observation = observe { event in
      if case .didSave(let objects) = event { saved = objects.savedChanges }
    }
    try withExtendedLifetime(observation) { try body() }
    return saved
  }
}
