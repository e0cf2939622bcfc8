import PersistTestSupport

/// The choices of a run, step by step, so that it can be repeated without some of them.
struct PlainTape {
  struct Step {
    /// The random numbers that the step began with.
    let random: SeededRandom
    var edits: [Edit] = []
  }

  /// An edit with the random numbers that were left after it was chosen.
  struct Edit {
    /// Nil for one that was dropped.
    var edit: PlainEdit?
    let random: SeededRandom
  }

  var steps: [Step] = []

  var editCount: Int { steps.reduce(0) { $0 + $1.edits.count { $0.edit != nil } } }
}

extension PlainGraph {
  /// The edit, as far as it can be carried out here; nil where it can't.
  func applicable(_ edit: PlainEdit) -> PlainEdit? {
    switch edit {
    case .make(let id, _): return objects[id] == nil ? edit : nil
    case .value(let id, _), .note(let id, _), .blob(let id, _), .delete(let id): return isAlive(id) ? edit : nil
    case .set(let id, _, let other): return isAlive(id) && other.map(isAlive) != false ? edit : nil
    case .insert(let id, let name, let other, let index):
      guard isAlive(id), isAlive(other) else { return nil }
      let others = many(id, name).filter { $0 != other }
      return .insert(id, name, other, index.map { min($0, others.count) })
    case .remove(let id, let name, let other):
      return isAlive(id) && isAlive(other) && many(id, name).contains(other) ? edit : nil
    case .replace(let id, let name, let members):
      return isAlive(id) ? .replace(id, name, members.filter(isAlive)) : nil
    }
  }
}
