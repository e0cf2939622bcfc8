package import Persist

/// The versions of a model and the versions that each grew from.
///
/// The lock records parents. For other versions, the one before is the parent in the family's order, except that a
/// version comes after those that it is recorded to have grown from, whatever their names. If there is no evidence of
/// that order, and a version has none of the changes that led to the one before, then both grew from the same parent,
/// in two branches.
package struct VersionLineage {
  private let family: ModelFamily
  private var parentNames: [String: [String]] = [:]
  /// The names of the versions, from the oldest to the newest.
  package let names: [String]

  package init(_ family: ModelFamily, lock: ModelLock?, registry: ModelRegistry) {
    self.family = family
    let known = Set(family.versions.map(\.name))
    var recorded: [String: Set<String>] = [:]
    for name in known {
      let parents = lock?.parents[ModelLock.Version(model: family.name, name: name)]
      recorded[name] = parents?.intersection(known).subtracting([name])
    }
    let versions = Self.ordered(family.versions, after: recorded)
    names = versions.map(\.name)
    for (index, version) in versions.enumerated() {
      if let parents = recorded[version.name], !parents.isEmpty {
        parentNames[version.name] = names.filter(parents.contains)
      } else if index > 0 {
        let isReleased = lock?.isLocked(ModelLock.Version(model: family.name, name: version.name)) == true
        let before = versions[index - 1]
        let isOrdered = isReleased || family.precedes(before, version) != nil
        parentNames[version.name] = [isOrdered ? before.name : origin(of: version, after: before)]
      }
    }
  }

  /// The versions in their order, with each after its parents. Versions that are recorded as their own ancestors keep
  /// their order.
  private static func ordered(_ versions: [ModelVersion], after parents: [String: Set<String>]) -> [ModelVersion] {
    var children: [String: [Int]] = [:]
    var waiting = [Int](repeating: 0, count: versions.count)
    for (index, version) in versions.enumerated() {
      waiting[index] = parents[version.name]?.count ?? 0
      for parent in parents[version.name] ?? [] { children[parent, default: []].append(index) }
    }
    var ordered: [ModelVersion] = []
    var isPlaced = [Bool](repeating: false, count: versions.count)
    // Takes the first version without unplaced predecessors; in a cycle, simply the first one left.
    while let next = versions.indices.first(where: { !isPlaced[$0] && waiting[$0] <= 0 })
      ?? versions.indices.first(where: { !isPlaced[$0] })
    {
      isPlaced[next] = true
      ordered.append(versions[next])
      for child in children[versions[next].name] ?? [] { waiting[child] -= 1 }
    }
    return ordered
  }

  /// Returns the name of the version that `version` grew from: the one before it or, if it has none of its changes, the
  /// parent of that one.
  private func origin(of version: ModelVersion, after before: ModelVersion) -> String {
    guard let name = parentNames[before.name]?.first, parentNames[before.name]?.count == 1,
      let parent = family.version(named: name), let theirs = Self.changes(from: parent, to: before),
      let own = Self.changes(from: parent, to: version), !theirs.isEmpty, !own.isEmpty, theirs.isDisjoint(with: own)
    else { return before.name }
    return name
  }

  /// Nil if the two can't be compared.
  private static func changes(from old: ModelVersion, to new: ModelVersion) -> Set<String>? {
    (try? MigrationPlan(from: old, to: new)).map { Set(difference($0)) }
  }

  /// The operations of a plan in words.
  package static func difference(_ plan: MigrationPlan) -> [String] {
    plan.steps.map(\.operation).filter { !$0.entity.isEmpty }.map { operation in
      let place = [operation.entity, operation.property].compactMap { $0 }.joined(separator: ".")
      let newName = operation.newName.map { " → \($0)" } ?? ""
      let detail = operation.detail.map { " (\($0))" } ?? ""
      let kind = operation.kind.rawValue.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : String($1) }
      return "\(kind) \(place)\(newName)\(detail)"
    }
  }

  /// The names of the versions that a version grew from; none for the first.
  package func parents(of name: String) -> [String] { parentNames[name] ?? [] }

  /// The names of the versions that no other grew from: one, unless branches have diverged.
  package var heads: [String] {
    let parents = Set(parentNames.values.joined())
    return names.filter { !parents.contains($0) }
  }

  /// Returns the nearest version that two others grew from.
  package func commonParent(of first: String, and second: String) -> String? {
    let ancestors = Set(self.ancestors(of: first))
    return self.ancestors(of: second).first(where: ancestors.contains)
  }

  /// The version itself and all that it grew from, nearest first.
  package func ancestors(of name: String) -> [String] {
    var found = [name]
    var index = 0
    while index < found.count {
      for parent in parents(of: found[index]) where !found.contains(parent) { found.append(parent) }
      index += 1
    }
    return found
  }
}
