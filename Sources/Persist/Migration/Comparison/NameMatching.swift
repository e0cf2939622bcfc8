/// Matches named things of a new model with those of an old model.
///
/// The rule is Core Data's: two things correspond if they share a renaming identifier, which defaults to the name. It
/// works in both directions, so that reverting a rename is recognized as well. In order:
///
/// 1. the same identifier and the same name;
/// 2. the same identifier with another name: `b` (was `a`) → `c` (was `a`);
/// 3. an identifier that is the other one's name: `a` → `b` (was `a`), and `b` (was `a`) → `a`;
/// 4. the same name.
///
/// An identifier that is the other one's name even though the other one has an identifier too is the next link of a
/// chain, `b` (was `a`) → `c` (was `b`), and counts as 3.
///
/// Names take precedence if following an identifier would lose a value:
/// - Both models have both names, and only one of the four things has an identifier, as in `{a, b}` → `{a, b (was a)}`.
///   The identifier is a leftover of an earlier rename, and following it would discard `b`.
/// - One of the two stays where it is, under its name, and the other one has another owner: a subentity with `a`
///   inherits `b (was a)`, or declares it beside an inherited `a`; a subentity with `b (was a)` keeps `b` and inherits
///   an `a`. That holds unless `a` has an identifier of its own there or in a subentity, and therefore another meaning:
///   in the children of `{x, y, d}` → `{x (was y)}`, `d (was x)` has the values of `x`.
/// - The former name of an old thing belongs to a thing without identifier in both models, as in `{a, b (was a)}` →
///   `{a}`.
///
/// - SeeAlso: <https://developer.apple.com/documentation/coredata/nsattributedescription/renamingidentifier>
struct NameMatching {
  struct Name: Hashable {
    let name: String
    /// Nil if it is empty or equal to the name.
    let identifier: String?

    init(_ name: String, identifier: String?) {
      self.name = name
      self.identifier = identifier == name || identifier == "" ? nil : identifier
    }
  }

  /// Several new things for one old one, or several old ones for one new one.
  struct Ambiguity: Error {
    let old: [String]
    let new: [String]
    let identifier: String
  }

  /// The old names of matched things, by new name.
  private(set) var oldNames: [String: String] = Dictionary()
  private var unmatchedOld: [Name]
  private var unmatchedNew: [Name]

  /// - Parameters:
  ///   - below: The names that subentities add on either side. They aren't matched, but their identifiers tell the
  ///     meaning of names.
  ///   - standApart: Whether an old and a new name have different owners, and one of them remains with its owner in the
  ///     other model.
  static func match(
    old: [Name], new: [Name], below: @autoclosure () -> (old: [Name], new: [Name]) = ([], []),
    standApart: (_ old: String, _ new: String) -> Bool = { _, _ in false }
  ) throws(Ambiguity) -> [String: String] {
    // Without identifiers, names alone decide, which saves nine tenths of the work for most entities.
    let areOnlyNames = old.allSatisfy { $0.identifier == nil } && new.allSatisfy { $0.identifier == nil }
    var matching = NameMatching(unmatchedOld: old, unmatchedNew: new, below: areOnlyNames ? ([], []) : below())
    if !areOnlyNames {
      matching.matchExact()
      try matching.matchIdentifiers()
      try matching.matchIdentifiersToNames(standApart)
      matching.matchNamesToIdentifiers(standApart)
    }
    matching.matchNames()
    return matching.oldNames
  }

  private let below: (old: [Name], new: [Name])

  private init(unmatchedOld: [Name], unmatchedNew: [Name], below: (old: [Name], new: [Name])) {
    self.unmatchedOld = unmatchedOld
    self.unmatchedNew = unmatchedNew
    self.below = below
  }

  private mutating func match(_ new: Name, with old: Name) {
    oldNames[new.name] = old.name
    unmatchedOld.removeAll { $0.name == old.name }
    unmatchedNew.removeAll { $0.name == new.name }
  }

  private mutating func matchExact() {
    for new in unmatchedNew where new.identifier != nil {
      if let old = unmatchedOld.first(where: { $0 == new }) { match(new, with: old) }
    }
  }

  private mutating func matchIdentifiers() throws(Ambiguity) {
    for (identifier, new) in Self.grouped(unmatchedNew) {
      let old = unmatchedOld.filter { $0.identifier == identifier }
      guard let first = old.first else { continue }
      guard new.count == 1, old.count == 1 else {
        throw Ambiguity(old: old.map(\.name), new: new.map(\.name), identifier: identifier)
      }
      match(new[0], with: first)
    }
  }

  private mutating dynamic func matchIdentifiersToNames(_ standApart: (String, String) -> Bool) throws(Ambiguity) {
    let oldNames = Set(unmatchedOld.map(\.name))
    let plainNew = Self.plainNames(unmatchedNew)
    let claimed = Set((unmatchedNew + below.new).compactMap(\.identifier))
    // New things under an old name that take the values of another old thing.
    let renamed = Self.renamed(unmatchedNew + below.new, from: unmatchedOld + below.old)
    for (identifier, claimants) in Self.grouped(unmatchedNew) {
      guard let old = unmatchedOld.first(where: { $0.name == identifier }) else { continue }
      let new = claimants.filter { claimant in
        let isInBoth = oldNames.contains(claimant.name)
        // If another one has a renaming identifier of this name, the two have exchanged their names.
        let isLeftOver = isInBoth && !claimed.contains(claimant.name)
        let isOtherwiseKept = plainNew.contains(identifier) || isLeftOver && !renamed.contains(identifier)
        if isOtherwiseKept, standApart(old.name, claimant.name) { return false }
        return !(plainNew.contains(identifier) && isInBoth)
      }
      guard let first = new.first else { continue }
      guard new.count == 1 else {
        throw Ambiguity(old: [old.name], new: new.map(\.name), identifier: identifier)
      }
      match(first, with: old)
    }
  }

  /// Matches in the opposite direction: identifiers of old things with names of new ones.
  private mutating dynamic func matchNamesToIdentifiers(_ standApart: (String, String) -> Bool) {
    let newNames = Set(unmatchedNew.map(\.name))
    let (plainOld, plainNew) = (Self.plainNames(unmatchedOld), Self.plainNames(unmatchedNew))
    let claimed = Set((unmatchedOld + below.old).compactMap(\.identifier))
    let renamed = Self.renamed(unmatchedOld + below.old, from: unmatchedNew + below.new)
    for (identifier, claimants) in Self.grouped(unmatchedOld) {
      guard let new = unmatchedNew.first(where: { $0.name == identifier }), !plainOld.contains(identifier) else {
        continue
      }
      let old = claimants.filter {
        let isOtherwiseKept = plainNew.contains($0.name) && !claimed.contains($0.name) && !renamed.contains(identifier)
        return !(isOtherwiseKept && standApart($0.name, new.name))
          && !(new.identifier != nil && newNames.contains($0.name))
      }
      if old.count == 1 { match(new, with: old[0]) }
    }
  }

  private mutating func matchNames() {
    // All at once: in large models, this matches most names. Nothing is matched after them.
    let old = Set(unmatchedOld.map(\.name))
    for new in unmatchedNew where old.contains(new.name) { oldNames[new.name] = new.name }
  }

  /// The names of things that, by their identifiers, are other things of the other model.
  private static func renamed(_ names: [Name], from others: [Name]) -> Set<String> {
    let present = Set(others.map(\.name))
    return Set(names.filter { $0.identifier.map(present.contains) == true }.map(\.name))
  }

  private static func plainNames(_ names: [Name]) -> Set<String> {
    Set(names.filter { $0.identifier == nil }.map(\.name))
  }

  /// Names by identifier, in a fixed order, so that the same models always cause the same error.
  private static func grouped(_ names: [Name]) -> [(String, [Name])] {
    var groups: [String: [Name]] = Dictionary()
    for name in names {
      if let identifier = name.identifier { groups[identifier, default: []].append(name) }
    }
    return groups.sorted(on: \.key)
  }
}
