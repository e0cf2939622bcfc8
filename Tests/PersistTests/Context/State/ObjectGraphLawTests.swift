import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Laws of an object graph's state")
struct ObjectGraphLawTests {
  @Test(
    "Verbs in any order lead to the states of a simple model and keep every rule",
    .law("graph-verbs", short: 60, long: 20_000))
  func verbs() {
    let item = EntityDescription(
      "Item", attributes: [.init("name", .string), .init("note", .string, isTransient: true)])
    forEachSeed { seed in
      try withStack(ModelDescription(entities: [item])) { stack in
        var run = Run(stack, seed: seed)
        for _ in 0..<120 { try run.step() }
      }
    }
  }

  /// The state of an object as the verbs' table describes it.
  private struct Item: Equatable {
    var change = ManagedObject.Change.none
    var isAway = true
    var name: String?
    /// The name in the row; nil without a row.
    var savedName: String?

    mutating func leave(_ change: ManagedObject.Change = .none) { (self.change, isAway) = (change, true) }

    mutating func discard() {
      if change == .inserted { leave() } else if change != .none { (change, name) = (.none, savedName) }
    }
  }

  /// Applies each verb to objects and to the model.
  private struct Run {
    private let context: ManagedObjectContext
    private let tables: StoreTables
    private var objects: [ManagedObject] = []
    private var model: [Item] = []
    private var recorded: (state: UnsavedState, model: [Item])?
    private var random: SeededRandom
    private var lastKey: Int64 = 100
    private var log: [String] = []
    private var graph: ObjectGraph { context.graph }

    init(_ stack: TestStack, seed: UInt64) {
      context = stack.context()
      tables = context.tables(of: stack.store)
      random = SeededRandom(seed: seed)
    }

    mutating func step() throws {
      let generation = graph.rowGeneration
      let count = log.count
      while log.count == count { try verb() }
      for (object, item) in zip(objects, model) {
        try expect(object.brokenRule, nil)
        try expect(object.change, item.change)
        try expect(object.table == nil, item.isAway)
        if !item.isAway { try expect(object["name"] as? String, item.name) }
      }
      let sets: [(set: ObjectGraph.ChangeSet, change: ManagedObject.Change)] = [
        (graph.inserted, .inserted), (graph.updated, .updated), (graph.deleted, .deleted),
      ]
      for (set, change) in sets {
        let wanted = zip(objects, model).filter { !$1.isAway && $1.change == change }.map(\.0)
        try expect(Set(set.objects), Set(wanted))
        try expect(set.count, wanted.count)
      }
      try expect(graph.rowGeneration >= generation, true)
    }

    private mutating func verb() throws {
      guard !objects.isEmpty, Int.random(in: 0..<8, using: &random) > 0 else { return create() }
      let place = objects.indices.randomElement(using: &random) ?? 0
      let (object, item) = (objects[place], model[place])
      let verb = Int.random(in: 0..<14, using: &random)
      switch (verb, item.change) {
      case (0...2, .none), (0...2, .inserted), (0...2, .updated):
        guard !item.isAway else { return insertAgain(place) }
        set(place)
        if item.change == .none { model[place].change = .updated }
        log.append("set \(place)")
      case (3, .none), (3, .updated):
        guard !item.isAway else { return }
        graph.delete(object)
        model[place].change = .deleted
        log.append("delete \(place)")
      case (3, .inserted):
        graph.delete(object)
        graph.depart(object)
        model[place].leave(.deleted)
        log.append("delete and depart \(place)")
      case (4, .deleted):
        guard !item.isAway else { return insertAgain(place) }
        graph.undelete(object)
        model[place].change = .updated
        log.append("undelete \(place)")
      case (5, .deleted):
        guard !item.isAway else { return }
        graph.restore(object, over: nil)
        (model[place].change, model[place].name) = (.none, item.savedName)
        log.append("restore \(place)")
      case (6, .none), (6, .updated):
        guard !item.isAway else { return }
        graph.reinsert(object)
        model[place].change = .inserted
        log.append("reinsert \(place)")
      case (6, .inserted):
        guard let row = object.snapshot else { return }
        graph.updateInsteadOfInserting(object)
        object.find(row)
        model[place].change = .updated
        log.append("update instead of inserting \(place)")
      case (7, .none), (7, .updated), (7, .deleted):
        guard !item.isAway else { return }
        graph.discardDeletedByOthers(object)
        graph.departAsDeleted(object)
        model[place].leave(.deleted)
        log.append("depart as deleted \(place)")
      case (8, .inserted):
        guard let holder = objects.indices.randomElement(using: &random), holder != place, !model[holder].isAway else {
          return
        }
        graph.absorb(object, into: objects[holder])
        model[place].leave()
        log.append("absorb \(place) into \(holder)")
      case (9, .updated):
        graph.discardChanges(of: object)
        object.discardChanges()
        model[place].discard()
        log.append("discard changes of \(place)")
      case (10, _):
        graph.discardAll(notingFormer: false)
        for place in model.indices where !model[place].isAway { model[place].discard() }
        log.append("discard all")
      case (11, _): acceptSome()
      case (12, _):
        recorded = (UnsavedState(of: context), model)
        log.append("record")
      case (13, _): resume()
      default: break
      }
    }

    private mutating func create() {
      objects.append(ManagedObject(entity: "Item", context: context))
      model.append(Item(change: .inserted, isAway: false))
      if Bool.random(using: &random) { set(objects.count - 1) }
      log.append("create \(objects.count - 1)")
    }

    private mutating func insertAgain(_ place: Int) {
      context.insert(objects[place])
      model[place] = Item(change: .inserted, isAway: false)
      set(place)
      log.append("insert again \(place)")
    }

    private mutating func set(_ place: Int) {
      let name = "name \(log.count)"
      objects[place]["name"] = name
      model[place].name = name
    }

    /// Accepts some changes as if a store had written them.
    private mutating func acceptSome() {
      func some(_ set: ObjectGraph.ChangeSet) -> [ManagedObject] {
        set.objects.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
      }
      let saved = SavedObjects(
        inserted: some(graph.inserted), updated: some(graph.updated), deleted: some(graph.deleted))
      let keys = saved.inserted.map { object -> Int64 in
        if object.table?.isTemporary == false { return object.key }
        lastKey += 1
        return lastKey
      }
      let receipt = CommitReceipt(insertedKeys: keys)
      _ = graph.accept(saved, receipt, in: tables, unsaved: context.unsavedTable, of: context)
      graph.departSaved(saved.deleted)
      for (place, object) in objects.enumerated() where !model[place].isAway {
        if saved.deleted.contains(object) { model[place].leave() }
        guard saved.inserted.contains(object) || saved.updated.contains(object) else { continue }
        (model[place].change, model[place].savedName) = (.none, model[place].name)
      }
      recorded = nil
      log.append("accept \(saved.inserted.count), \(saved.updated.count), \(saved.deleted.count)")
    }

    private mutating func resume() {
      guard let (state, former) = recorded else { return }
      state.restore(except: [])
      for place in model.indices {
        if place < former.count, !former[place].isAway, former[place].change != .none {
          model[place] = former[place]
        } else if !model[place].isAway {
          model[place].discard()
        }
      }
      log.append("resume")
    }

    private func expect<Value: Equatable>(_ value: Value, _ wanted: Value) throws {
      try #require(value == wanted, "after \(log.count) verbs, the last being \(log.suffix(12))")
    }
  }
}
