import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// Two contexts that change what both have read: the second meets the first one's changes when it saves, under each
/// merge policy.
struct PlainConflictRun: PlainTrial {
  static let model = PlainSchema.model

  private let stack: TestStack
  private let contexts: [ManagedObjectContext]
  private var objects: [PlainObjects]
  private var stored = PlainState()
  private var graph = PlainGraph()
  var edits: PlainEdits
  private var log: [String] = []
  /// The objects that the last edits gave a large value, whose file others may have deleted by then.
  private var rewritten: Set<Int> = []

  init(_ stack: TestStack, _ edits: PlainEdits) {
    self.stack = stack
    contexts = [stack.context(), stack.context()]
    objects = contexts.map { PlainObjects($0) }
    self.edits = edits
  }

  /// Both sides change something and save.
  mutating func step() throws {
    log.append("— round")
    let seen = graph
    let order = edits.chance(2) ? [0, 1] : [1, 0]
    guard let theirs = try changed(order[0], seen, count: Int.random(in: 1...6, using: &edits.random)) else {
      // Some members are reread after it, which others mustn't have changed by then.
      return try expect(objects[order[0]].state(), stored, "context \(order[0]) after it rolled back")
    }
    contexts[order[0]].mergePolicy = .error
    log.append("\(order[0]) saves")
    try contexts[order[0]].save()
    guard let mine = try changed(order[1], seen, count: Int.random(in: 1...6, using: &edits.random)) else {
      return try sync()
    }
    let policies = [MergePolicy.error] + MergePolicy.settling
    let policy = policies[Int.random(in: 0..<policies.count, using: &edits.random)]
    log.append("\(order[1]) saves, \(policy.mergeType)")
    let outcome = PlainOutcome(
      seen: seen, mine: mine, theirs: theirs, policy: policy.mergeType, rewritten: rewritten)
    try save(order[1], policy, outcome)
    try sync()
  }

  func end() throws {
    let context = try stack.reopened().context()
    try expect(PlainObjects(fetching: context).state(), stored, "after reopening")
  }

  /// Changes a context; nil where a rule denies what it did, which it has forgotten then.
  private mutating func changed(_ who: Int, _ seen: PlainGraph, count: Int) throws -> PlainGraph? {
    var plain = seen
    rewritten = []
    for _ in 0..<count {
      guard let edit = edits.edit(of: plain) else { continue }
      log.append("\(who) \(edit)")
      plain.apply(edit)
      if case .blob(let id, _) = edit { rewritten.insert(id) }
      try objects[who].apply(edit)
    }
    // A large value that others have exchanged by now reads as the newest.
    try expect(objects[who].state().withoutBlobs, plain.state.withoutBlobs, "context \(who) before its save")
    if !plain.isDenied { return plain }
    log.append("\(who) rolls back")
    contexts[who].rollback()
    return nil
  }

  private mutating func save(_ who: Int, _ policy: MergePolicy, _ outcome: PlainOutcome) throws {
    let context = contexts[who]
    context.mergePolicy = policy
    let before = try objects[who].state()
    let error = persistError { try context.save() }
    if policy.mergeType == .error {
      if let isRefused = outcome.isRefused {
        try demand((error != nil) == isRefused, "refused: \(error?.description ?? "no")")
      }
    } else if error?.code != .validationDeleteDenied, error?.code != .validationMultiple {
      try demand(error == nil, error?.description ?? "")
    }
    guard error == nil else {
      try expect(objects[who].state().withoutBlobs, before.withoutBlobs, "context \(who) after a save that failed")
      return context.rollback()
    }
    try demand(!context.hasChanges, "changes are left after a save:")
    let strays = try objects[who].strays(isInStep: false) + objects[who].disagreements()
    let found = try PlainObjects(fetching: stack.context())
    let now = try found.state()
    let halves = try found.disagreements()
    try demand(halves == [], "the store: \(halves.prefix(5))")
    let ids = Set(strays.flatMap { $0.split { !$0.isNumber }.compactMap { Int($0) } })
    let states = ids.map { id in
      "\(id): \(outcome.seen.state.objects[id] ?? [:])\nmine \(outcome.mine.state.objects[id] ?? [:])\ntheirs "
        + "\(outcome.theirs.state.objects[id] ?? [:])\nstored \(now.objects[id] ?? [:])"
    }
    try demand(strays == [], "\(strays.prefix(5))\n\(states.joined(separator: "\n"))")
    let problems = try outcome.problems(in: PlainObjects(fetching: stack.context()).state())
    try demand(problems == [], "\(problems.prefix(8).joined(separator: "; "))")
  }

  /// Brings both sides in step with the store.
  private mutating func sync() throws {
    let found = try PlainObjects(fetching: stack.context())
    stored = try found.state()
    for who in contexts.indices {
      contexts[who].refreshAllObjects()
      for (number, object) in found.byNumber where objects[who].byNumber[number]?.managedObjectContext == nil {
        objects[who].byNumber[number] = contexts[who].object(with: object.objectID)
      }
      objects[who].byNumber = objects[who].byNumber.filter { found.byNumber[$0.key] != nil }
      try expect(objects[who].state(), stored, "context \(who) in step with the store")
    }
    graph = PlainGraph(stored)
    for (number, object) in found.byNumber {
      let rows = object.committedValues()
      for side in PlainSchema.relationships(of: graph.entity(number)) where !side.isToMany {
        // The row leads to one that is gone: it reads as nothing, and emptying it is a change.
        let hasEnd = (rows[side.name] ?? nil) != nil
        if hasEnd, graph.one(number, side.name) == nil { graph.objects[number]?.one[side.name] = PlainGraph.gone }
      }
    }
  }

  var trace: String { "after:\n" + log.suffix(30).joined(separator: "\n") }

}

extension PlainGraph {
  /// Some object that is gone.
  static let gone = -1

  /// A graph that is all saved.
  init(_ state: PlainState) {
    for (id, properties) in state.objects {
      var object = Object(entity: properties["entity"] ?? "")
      object.isSaved = true
      object.value = Int(properties["value"] ?? "") ?? 0
      object.note = properties["note"] == "none" ? nil : properties["note"]
      object.blob = Int(properties["blob"] ?? "")
      for side in PlainSchema.relationships(of: object.entity) {
        if side.isToMany {
          object.many[side.name] = (properties[side.name] ?? "").split(separator: ",").compactMap { Int($0) }
        } else {
          object.one[side.name] = Int(properties[side.name] ?? "")
        }
      }
      objects[id] = object
    }
  }
}

extension PlainObjects {
  /// Relationships that only one side has.
  func disagreements() throws -> [String] {
    let state = try state()
    return state.objects.keys.sorted().flatMap { id -> [String] in
      let object = state.objects[id] ?? [:]
      return PlainSchema.relationships(of: object["entity"] ?? "").flatMap { side -> [String] in
        guard let inverse = side.inverse else { return [] }
        return (object[side.name] ?? "").split(separator: ",").compactMap { Int($0) }.compactMap { other in
          // The program doesn't hold what others have made meanwhile.
          guard let end = state.objects[other] else { return nil }
          let back = (end[inverse] ?? "").split(separator: ",").compactMap { Int($0) }
          return back.contains(id) ? nil : "\(id).\(side.name) has \(other), whose \(inverse) is \(back)"
        }
      }
    }
  }
}
