/// Brings renamings into an order in which no name is given while it is still taken, over free names where they go in
/// a circle.
struct RenameSequence {
  struct Rename: Sendable, Hashable {
    let old: String
    let new: String
  }

  /// - Parameters:
  ///   - renames: what has which name, and which it is to have.
  ///   - taken: every name that is there.
  ///   - freeName: gives a name that is nowhere.
  static func ordered(
    _ renames: [Rename], taken: some Sequence<String>, freeName: () -> String
  ) -> [Rename] {
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
