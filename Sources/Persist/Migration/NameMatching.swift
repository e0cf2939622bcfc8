/// Finds which named thing of an old model each of a new model comes from.
///
/// A renaming identifier is the name under which a thing is known through its versions: the name that it had in
/// an older version, or the identifier that it had there. In order:
///
/// 1. the same name and the same identifier;
/// 2. the same identifier under another name: renamed again, `b` (was `a`) → `c` (was `a`);
/// 3. an identifier that is the old one's name: `a` → `b` (was `a`);
/// 4. the same name;
/// 5. a name that is the old one's identifier, which is 3 the other way round.
///
/// Where both models have both names and only one carries an identifier, `{a, b}` → `{a, b (was a)}`, the names
/// decide: the identifier then tells of an earlier renaming, and following it would throw away `b`.
struct NameMatching {
  struct Name: Hashable {
    let name: String
    /// Nil where it says nothing beyond the name.
    let identifier: String?

    init(_ name: String, identifier: String?) {
      self.name = name
      self.identifier = identifier == name || identifier == "" ? nil : identifier
    }
  }

  /// Two new things for one old one, or two old for one new.
  struct Ambiguity: Error {
    let old: [String]
    let new: [String]
    let identifier: String
  }

  /// The old name of each new one that has one.
  private(set) var oldNames: [String: String] = [:]
  private var free: [Name]
  private var open: [Name]

  static func match(old: [Name], new: [Name]) throws(Ambiguity) -> [String: String] {
    var matching = NameMatching(free: old, open: new)
    matching.matchExact()
    try matching.matchIdentifiers()
    try matching.matchIdentifiersToNames()
    matching.matchNames()
    matching.matchNamesToIdentifiers()
    return matching.oldNames
  }

  private init(free: [Name], open: [Name]) {
    self.free = free
    self.open = open
  }

  private mutating func take(_ new: Name, from old: Name) {
    oldNames[new.name] = old.name
    free.removeAll { $0.name == old.name }
    open.removeAll { $0.name == new.name }
  }

  private mutating func matchExact() {
    for new in open where new.identifier != nil {
      if let old = free.first(where: { $0 == new }) { take(new, from: old) }
    }
  }

  private mutating func matchIdentifiers() throws(Ambiguity) {
    for (identifier, new) in grouped(open) {
      let old = free.filter { $0.identifier == identifier }
      guard let first = old.first else { continue }
      guard new.count == 1, old.count == 1 else {
        throw Ambiguity(old: old.map(\.name), new: new.map(\.name), identifier: identifier)
      }
      take(new[0], from: first)
    }
  }

  private mutating func matchIdentifiersToNames() throws(Ambiguity) {
    let oldNames = Set(free.map(\.name))
    let plainNewNames = Set(open.filter { $0.identifier == nil }.map(\.name))
    for (identifier, claimants) in grouped(open) {
      guard let old = free.first(where: { $0.name == identifier }) else { continue }
      let new = claimants.filter { !(plainNewNames.contains(identifier) && oldNames.contains($0.name)) }
      guard let first = new.first else { continue }
      guard new.count == 1 else {
        throw Ambiguity(old: [old.name], new: new.map(\.name), identifier: identifier)
      }
      take(first, from: old)
    }
  }

  private mutating func matchNames() {
    for new in open {
      if let old = free.first(where: { $0.name == new.name }) { take(new, from: old) }
    }
  }

  private mutating func matchNamesToIdentifiers() {
    for new in open where new.identifier == nil {
      let old = free.filter { $0.identifier == new.name }
      if old.count == 1 { take(new, from: old[0]) }
    }
  }

  /// Names by identifier, in a fixed order, so that the same models always give the same error.
  private func grouped(_ names: [Name]) -> [(String, [Name])] {
    var groups: [String: [Name]] = [:]
    for name in names {
      if let identifier = name.identifier { groups[identifier, default: []].append(name) }
    }
    return groups.sorted { $0.key < $1.key }
  }
}
