extension ObjectGraph {
  /// Checks the rules of an object's state in debug builds, at the end of each verb.
  @inline(__always)
  func check(_ object: ManagedObject) {
    assert(object.brokenRule == nil, "\(object.layout.entity.name) \(object.key): \(object.brokenRule ?? "")")
  }
}

extension ManagedObject {
  /// The rule of an object's state that this object breaks, as a sentence; nil if it is consistent.
  ///
  /// This function defines the states that an object can have. In the middle of a verb, an object may break a rule.
  final var brokenRule: String? {
    guard let table else {
      if change == .inserted || change == .updated { return "An object without a context has changes to save." }
      return marks.contains(.holdsKind) ? nil : "An object without a context doesn't retain its kind."
    }
    if table.map[key] !== self { return "Its table has another object under its key, or none." }
    if marks.contains(.holdsKind) { return "It retains its kind, which its context does." }
    let graph = table.context.graph
    let sets: [(set: ObjectGraph.ChangeSet, change: Change)] = [
      (graph.inserted, .inserted), (graph.updated, .updated), (graph.deleted, .deleted),
    ]
    for (set, change) in sets where set.contains(self) != (change == self.change) {
      let verb = set.contains(self) ? "has" : "lacks"
      return "Its change is \(self.change), and the set of \(change) objects \(verb) it."
    }
    if isDraft, change != .inserted || row == nil { return "Only a new object's row can be a draft." }
    switch loading {
    case .fault: if isDraft { return "A fault's row is a draft." }
    case .missing: if change == .inserted { return "A new object's row can't be missing." }
    case .loaded:
      let hasRow = snapshot != nil || table.isTemporary
      if change == .none || change == .updated, !hasRow { return "It is loaded, has a row, and hasn't read it." }
    case .awakening: break
    }
    if change == .none, loading != .missing, toManys.contains(where: { $0?.hasChanges == true }) {
      return "It counts as unchanged, and has changed members."
    }
    return nil
  }
}
