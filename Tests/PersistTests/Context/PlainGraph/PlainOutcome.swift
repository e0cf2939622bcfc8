import Persist

/// The documented result of a save that met others' changes, as a check of each property: of
/// objects and pairs that it leaves open, nothing is asked.
struct PlainOutcome {
  /// The values that both sides had read, those of the side that saves now, and those that the others have saved since.
  let seen: PlainGraph
  let mine: PlainGraph
  let theirs: PlainGraph
  let policy: MergePolicy.MergeType
  /// The objects that were given a large value here after the others had saved.
  let rewritten: Set<Int>

  private var objectWins: Bool { policy == .mergeByPropertyObjectTrump || policy == .overwrite }

  // MARK: Conflicts

  /// Whether the object's own row is written, inserted or deleted: its attributes and to-one relationships.
  ///
  /// These count by what the row says: a relationship whose destination was deleted by a rule that leaves the other end
  /// alone reads as nothing, and isn't written.
  private func changesRow(_ id: Int, _ graph: PlainGraph) -> Bool {
    guard seen.isAlive(id) == graph.isAlive(id) else { return true }
    let (old, new) = (seen.objects[id], graph.objects[id])
    return old?.value != new?.value || old?.note != new?.note || old?.blob != new?.blob || old?.one != new?.one
  }

  private func changes(_ id: Int, _ graph: PlainGraph) -> Bool {
    let (old, new) = (seen.objects[id]?.many ?? [:], graph.objects[id]?.many ?? [:])
    return changesRow(id, graph) || old.compactMapValues(Self.nonempty) != new.compactMapValues(Self.nonempty)
      || PlainSchema.relationships(of: seen.entity(id)).contains { side in
        // An order is its owner's, whose row counts as changed with it.
        let (old, new) = (seen.many(id, side.name), graph.many(id, side.name))
        return side.isOrdered && old.filter(new.contains) != new.filter(old.contains)
      }
  }

  /// Whether members were put in an order other than the stored one with the new members at its end.
  private func isReordered(_ id: Int, _ graph: PlainGraph) -> Bool {
    PlainSchema.relationships(of: seen.entity(id)).contains { side in
      let (old, new) = (seen.many(id, side.name), graph.many(id, side.name))
      return side.isOrdered && new != old.filter(new.contains) + new.filter { !old.contains($0) }
    }
  }

  private static func nonempty(_ members: [Int]) -> Set<Int>? { members.isEmpty ? nil : Set(members) }

  /// Whether a large value was set to what had been read before others replaced or deleted it. As its file is gone,
  /// that counts as a change.
  private func isRewritten(_ id: Int) -> Bool {
    let (old, new) = (seen.objects[id]?.blob, theirs.objects[id]?.blob)
    return rewritten.contains(id) && mine.objects[id]?.blob == old && (!theirs.isAlive(id) || new != old)
  }

  /// Whether the object's row was changed by others, and is written or deleted here; nil where it is open.
  private func isConflict(_ id: Int) -> Bool? {
    if isRewritten(id) { return nil }
    guard changes(id, mine), changes(id, theirs) else { return false }
    // Members that were only added or removed commute.
    if mine.isAlive(id), theirs.isAlive(id), !changesRow(id, mine), !isReordered(id, mine) { return false }
    let isWritten = !mine.isAlive(id) || changesRow(id, mine)
    return isWritten && (theirs.objects[id] == nil || changesRow(id, theirs)) ? true : nil
  }

  private var both: [Int] { seen.alive }

  /// Whether the policy ``MergePolicy/error`` has to refuse the save, or mustn't; nil where it is open.
  var isRefused: Bool? {
    let conflicts = both.map(isConflict)
    if conflicts.contains(true) { return true }
    return conflicts.contains(nil) ? nil : false
  }

  // MARK: The outcome

  /// The faults of the stored outcome, in words.
  func problems(in result: PlainState) -> [String] {
    var problems: [String] = []
    let (old, own, others) = (seen.state.objects, mine.state.objects, theirs.state.objects)
    for id in Set(own.keys).union(others.keys).union(old.keys).sorted() {
      guard let isThere = isThere(id) else { continue }
      guard isThere == (result.objects[id] != nil) else {
        problems.append("\(id) \(isThere ? "is missing" : "shouldn't be there")")
        continue
      }
      guard let found = result.objects[id] else { continue }
      let template = own[id] ?? others[id] ?? [:]
      for name in template.keys.sorted() {
        let values = Values(old: old[id]?[name], mine: own[id]?[name], theirs: others[id]?[name])
        let side = seen.side(id, name) ?? mine.side(id, name) ?? theirs.side(id, name)
        if let side, side.isToMany {
          problems += pairProblems(id, side, values, found[name] ?? "", result)
        } else if let wanted = wanted(id, name, values, side, result), !wanted.contains(found[name] ?? "") {
          problems.append("\(id).\(name) is \(found[name] ?? ""), should be \(wanted), of \(values)")
        }
      }
    }
    return problems
  }

  private struct Values {
    let old: String?
    let mine: String?
    let theirs: String?
  }

  /// Whether an object is there afterwards; nil where it is open.
  private func isThere(_ id: Int) -> Bool? {
    guard seen.isAlive(id) else { return mine.isAlive(id) || theirs.isAlive(id) ? hasNoRules(id) : false }
    switch (mine.isAlive(id), theirs.isAlive(id)) {
    case (true, true): return hasNoRules(id)
    case (false, false): return false
    case (true, false):
      if isRewritten(id) { return nil }
      // Under overwrite another object's whole row may lead to this one.
      guard changesRow(id, mine) else { return changes(id, mine) || policy == .overwrite ? nil : false }
      return objectWins ? hasNoRules(id) : false
    case (false, true):
      guard changes(id, theirs) else { return hasRestoredOwner(id) ? nil : false }
      if objectWins { return false }
      // It may have been deleted with its owner, whose deletion stands.
      if hasRestoredOwner(id) { return nil }
      return changesRow(id, theirs) ? true : nil
    }
  }

  /// True, or nil where a deletion by one side may cascade to what the other related to the deleted object.
  private func hasNoRules(_ id: Int) -> Bool? {
    hasNoRules(id, [])
  }

  private func hasNoRules(_ id: Int, _ path: [Int]) -> Bool? {
    let owners = [mine, theirs, seen].flatMap { self.owners(of: id, $0) }.filter { !path.contains($0) }
    let haveNone = owners.allSatisfy {
      mine.isAlive($0) && theirs.isAlive($0) && hasNoRules($0, path + [id]) == true
    }
    return haveNone ? true : nil
  }

  private func hasRestoredOwner(_ id: Int) -> Bool {
    [mine, seen].contains { !owners(of: id, $0).isEmpty }
  }

  /// The objects whose deletion cascades to an object.
  private func owners(of id: Int, _ graph: PlainGraph) -> [Int] {
    let ends = PlainSchema.relationships(of: graph.entity(id)).flatMap { side in
      PlainSchema.inverse(of: side)?.rule == .cascade ? graph.ends(id, side) : []
    }
    let oneWays = PlainSchema.oneWays(to: graph.entity(id)).filter { $0.rule == .cascade }
    return ends + oneWays.flatMap { side in graph.objects.keys.filter { graph.ends($0, side).contains(id) } }
  }

  /// The values that an attribute or a to-one relationship may have afterward; nil if any is right.
  private func wanted(
    _ id: Int, _ name: String, _ values: Values, _ side: PlainRelationship?, _ result: PlainState
  ) -> [String]? {
    guard let wanted = wanted(id, name, values) else { return nil }
    // The file of a large value goes with its row.
    if name == "blob", values.theirs == nil, values.mine == values.old { return wanted + ["none"] }
    guard let side else { return wanted }
    // An end that one side has deleted is none there, and may be there again.
    let known = [seen, mine, theirs].compactMap { $0.one(id, name) }
    if known.contains(where: { seen.isAlive($0) && (!mine.isAlive($0) || !theirs.isAlive($0)) }) { return nil }
    // The other end may be gone, or have got another partner.
    let isOneToOne = side.inverse.flatMap { PlainSchema.relationship(side.destination, $0)?.isToMany } == false
    let ends = [values.mine, values.theirs].compactMap { Int($0 ?? "") }
    if isOneToOne || ends.contains(where: { result.objects[$0] == nil }) {
      return [values.old, values.mine, values.theirs, "none"].compactMap { $0 }
    }
    // Taking a change back at the other end takes it back here.
    if !objectWins, !mine.isAlive(id) || !seen.isAlive(id) { return nil }
    if policy == .rollback, values.mine != values.old {
      let changed = [values.mine, values.old].compactMap { Int($0 ?? "") }
      if changed.contains(where: { isConflict($0) != false }) { return nil }
    }
    return wanted
  }

  private func wanted(_ id: Int, _ name: String, _ values: Values) -> [String]? {
    guard let theirs = values.theirs else { return values.mine.map { [$0] } }
    guard let mine = values.mine else { return [theirs] }
    guard let old = values.old else { return [mine] }
    // A reference to an object that is gone reads as nil, and emptying it changes the row.
    let isChangedHere = mine != old || self.mine.one(id, name) != seen.one(id, name)
    let isChangedThere = theirs != old || self.theirs.one(id, name) != seen.one(id, name)
    if !isChangedHere, !isChangedThere { return [old] }
    if name == "blob", isRewritten(id) { return [old, theirs] }
    let conflict = isConflict(id)
    switch policy {
    case .overwrite:
      if isChangedHere { return [mine] }
      if seen.side(id, name).flatMap(PlainSchema.inverse)?.isToMany == false { return [theirs] }
      if name == "blob", isChangedThere { return [old, theirs] }
      return conflict == true ? [old] : conflict == false ? [theirs] : [old, theirs]
    case .rollback:
      if !isChangedHere { return [theirs] }
      return conflict == true ? [theirs] : conflict == false ? [mine] : [mine, theirs]
    case .mergeByPropertyStoreTrump: return isChangedThere ? [theirs] : [mine]
    default: return isChangedHere ? [mine] : [theirs]
    }
  }

  /// Pairs of many-to-many relationships are merged one by one.
  private func pairProblems(
    _ id: Int, _ side: PlainRelationship, _ values: Values, _ found: String, _ result: PlainState
  ) -> [String] {
    guard let inverse = side.inverse, PlainSchema.relationship(side.destination, inverse)?.isToMany == true else {
      return []
    }
    func members(_ text: String?) -> Set<Int> { Set((text ?? "").split(separator: ",").compactMap { Int($0) }) }
    let (old, mine, theirs) = (members(values.old), members(values.mine), members(values.theirs))
    let now = members(found)
    return old.union(mine).union(theirs).union(now).sorted().compactMap { other in
      // Rows that were deleted by one side, and came back, have lost what they had.
      guard result.objects[other] != nil, [id, other].allSatisfy({ isWhole($0) }) else { return nil }
      let (isOld, isMine, isTheirs) = (old.contains(other), mine.contains(other), theirs.contains(other))
      var wanted = isOld ? isMine && isTheirs : isMine || isTheirs
      if policy == .rollback, isMine != isOld, isTheirs == isOld {
        switch (isConflict(id), isConflict(other)) {
        case (true?, true?): wanted = isTheirs
        case (false?, _), (_, false?): break
        default: return nil
        }
      }
      if now.contains(other) == wanted { return nil }
      return "\(id).\(side.name) \(wanted ? "lacks" : "has") \(other), of \(values)"
    }
  }

  /// Whether neither side has deleted an object.
  private func isWhole(_ id: Int) -> Bool {
    guard seen.isAlive(id) else { return true }
    return mine.isAlive(id) && theirs.isAlive(id)
  }
}
