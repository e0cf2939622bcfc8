import Persist
import PersistTestSupport

/// One change of a graph, as data: the plain graph and the framework's carry out the same.
enum PlainEdit {
  case make(Int, String)
  case value(Int, Int)
  case note(Int, String?)
  /// A large value, or a small one where a large one could be.
  case blob(Int, Int?)
  case set(Int, String, Int?)
  case insert(Int, String, Int, Int?)
  case remove(Int, String, Int)
  case replace(Int, String, [Int])
  case delete(Int)
}

extension PlainGraph {
  mutating func apply(_ edit: PlainEdit) {
    switch edit {
    case .make(let id, let entity): objects[id] = Object(entity: entity)
    case .value(let id, let value): objects[id]?.value = value
    case .note(let id, let note): objects[id]?.note = note
    case .blob(let id, let blob): objects[id]?.blob = blob
    case .set(let id, let name, let other): set(id, name, other)
    case .insert(let id, let name, let other, let index): insert(id, name, other, at: index)
    case .remove(let id, let name, let other): remove(id, name, other)
    case .replace(let id, let name, let members): replace(id, name, members)
    case .delete(let id): delete(id)
    }
  }
}

/// Chooses edits by chance, or those that a tape has.
struct PlainEdits {
  var random: SeededRandom
  /// The number that the next object gets.
  var next = 1
  /// The choices so far.
  private(set) var tape = PlainTape()
  /// The edits that are left of the step that is repeated.
  private var repeated: ArraySlice<PlainTape.Edit> = []
  /// The basis of ``choice(of:)``.
  let kind: UInt64
  /// The relationships that most edits are of, so that they meet; all for every other seed.
  private let sides: [PlainRelationship]
  /// The objects of the last edits, which every other run prefers, so that partners are deleted and exchanged.
  private var recent: [Int] = []
  private let prefersRecent: Bool

  init(random: SeededRandom, next: Int = 1, kind: UInt64? = nil) {
    self.random = random
    self.next = next
    var choice = random
    self.kind = kind ?? choice.next()
    let all = PlainSchema.relationships
    prefersRecent = Bool.random(using: &choice)
    sides = Bool.random(using: &choice) ? all : (0..<5).flatMap { _ -> [PlainRelationship] in
      let side = all[Int.random(in: 0..<all.count, using: &choice)]
      return [side] + (PlainSchema.inverse(of: side).map { [$0] } ?? [])
    }
  }

  /// Something that is decided once for a run, and is the same when its steps are repeated.
  func choice<Value>(of values: [Value]) -> Value? {
    values.isEmpty ? nil : values[Int(kind % UInt64(values.count))]
  }

  mutating func beginStep() { tape.steps.append(PlainTape.Step(random: random)) }

  /// Makes the next step that of another run.
  mutating func repeatStep(_ step: PlainTape.Step) {
    random = step.random
    repeated = step.edits[...]
    beginStep()
  }

  mutating func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }

  /// The next edit; nil where the one of the repeated step was dropped, or can't be carried out any more.
  mutating func edit(of graph: PlainGraph) -> PlainEdit? {
    var edit: PlainEdit?
    if let next = repeated.popFirst() {
      edit = next.edit.flatMap(graph.applicable)
      random = next.random
      if case .make(let id, _)? = edit { self.next = max(self.next, id + 1) }
    } else {
      edit = chosen(of: graph)
    }
    if !tape.steps.isEmpty {
      tape.steps[tape.steps.count - 1].edits.append(PlainTape.Edit(edit: edit, random: random))
    }
    return edit
  }

  private mutating func chosen(of graph: PlainGraph) -> PlainEdit {
    let alive = graph.alive
    guard let id = pick(alive), alive.count > 3 else { return make() }
    var sides = PlainSchema.relationships(of: graph.entity(id))
    if !chance(8) { sides = sides.filter { side in self.sides.contains { $0.name == side.name } } }
    switch Int.random(in: 0..<25, using: &random) {
    case 24: return .blob(id, chance(5) ? nil : Int.random(in: 1...4, using: &random))
    case 0...3: if alive.count < 24 || chance(4) { return make() }
    case 4: return .value(id, Int.random(in: 0..<5, using: &random))
    case 5: return .note(id, [nil, "a", "b"][Int.random(in: 0..<3, using: &random)])
    case 6...10:
      if let side = sides.filter({ !$0.isToMany }).randomElement(using: &random) {
        return .set(id, side.name, chance(4) ? nil : other(side, graph))
      }
    case 11...14:
      if let side = sides.filter(\.isToMany).randomElement(using: &random), let other = other(side, graph) {
        return .insert(id, side.name, other, side.isOrdered && chance(3) ? place(id, side, other, graph) : nil)
      }
    case 15...17:
      if let side = sides.filter(\.isToMany).randomElement(using: &random),
        let member = graph.many(id, side.name).filter(graph.isAlive).randomElement(using: &random)
      {
        return .remove(id, side.name, member)
      }
    case 18...19:
      if let side = sides.filter(\.isToMany).randomElement(using: &random) {
        var members: [Int] = []
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
          if let other = other(side, graph), !members.contains(other) { members.append(other) }
        }
        return .replace(id, side.name, members)
      }
    case 20:
      if let side = sides.filter(\.isOrdered).randomElement(using: &random) {
        let members = graph.many(id, side.name).filter(graph.isAlive)
        if members.count > 1 { return .replace(id, side.name, members.shuffled(using: &random)) }
      }
    default: if alive.count > 8 || chance(3) { return .delete(id) }
    }
    return .value(id, Int.random(in: 0..<5, using: &random))
  }

  private mutating func make() -> PlainEdit {
    defer { next += 1 }
    let others = chance(8) ? PlainSchema.entities : sides.flatMap { [$0.entity, $0.destination] }
    return .make(next, chance(3) ? "Node" : others.randomElement(using: &random) ?? "Node")
  }

  private mutating func other(_ side: PlainRelationship, _ graph: PlainGraph) -> Int? {
    pick(graph.alive.filter { PlainSchema.isKind(graph.entity($0), side.destination) })
  }

  private mutating func pick(_ objects: [Int]) -> Int? {
    let few = prefersRecent && !chance(3) ? objects.filter(recent.contains) : []
    guard let object = (few.isEmpty ? objects : few).randomElement(using: &random) else { return nil }
    recent = recent.suffix(5).filter { $0 != object } + [object]
    return object
  }

  private mutating func place(_ id: Int, _ side: PlainRelationship, _ other: Int, _ graph: PlainGraph) -> Int {
    let members = graph.many(id, side.name)
    return Int.random(in: 0...(members.contains(other) ? members.count - 1 : members.count), using: &random)
  }
}
