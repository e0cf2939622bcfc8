/// Orders renames such that no name is assigned while it is still in use, with temporary names to break cycles.
struct RenameSequence {
  struct Rename: Sendable, Equatable {
    let old: String
    let new: String
  }

  /// - Parameters:
  ///   - renames: the old and new names.
  ///   - taken: all existing names.
  ///   - freeName: returns an unused name.
  static dynamic func ordered(_ renames: [Rename], taken: [String], freeName: () -> String) -> [Rename] {
    var open = renames.filter { $0.old.foldedIdentifier != $0.new.foldedIdentifier }
    var occupied = Set(taken.map(\.foldedIdentifier))
    var sequence: [Rename] = []
    func carryOut(_ rename: Rename) {
      sequence.append(rename)
      occupied.remove(rename.old.foldedIdentifier)
      occupied.insert(rename.new.foldedIdentifier)
    }
    while !open.isEmpty {
      if let index = open.firstIndex(where: { !occupied.contains($0.new.foldedIdentifier) }) {
        carryOut(open.remove(at: index))
      } else {
        let first = open.removeFirst()
        let step = Rename(old: first.old, new: freeName())
        carryOut(step)
        open.append(Rename(old: step.new, new: first.new))
      }
    }
    return sequence
  }
}
