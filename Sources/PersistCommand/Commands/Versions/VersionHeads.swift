import Persist
import PersistTools
import PersistInspection
import PersistTesting

/// Versions that grew from the same parent in two branches, with what differs on each side.
struct VersionHeads {
  /// Two heads, and the version that both grew from.
  struct Pair {
    let first: String
    let second: String
    let parent: String
    /// The changes from the parent, in words.
    let firstChanges: [String]
    let secondChanges: [String]
    /// The parts that both change in different ways; nil if the versions' format can't be merged.
    let conflicts: [VersionMerge.Conflict]?
  }

  let model: String
  /// All heads; a single one if nothing has diverged.
  let names: [String]
  let pairs: [Pair]

  init(_ family: ModelFamily, _ lineage: VersionLineage) {
    model = family.name
    let heads = lineage.heads
    names = heads
    pairs = zip(heads, heads.dropFirst()).compactMap { first, second in
      guard let parent = lineage.commonParent(of: first, and: second), let base = family.version(named: parent),
        let left = family.version(named: first), let right = family.version(named: second)
      else { return nil }
      return Pair(
        first: first, second: second, parent: parent, firstChanges: Self.changes(base, left),
        secondChanges: Self.changes(base, right),
        conflicts: (try? MergedVersions(parent: base, first: left, second: right))?.conflicts)
    }
  }

  private static func changes(_ old: ModelVersion, _ new: ModelVersion) -> [String] {
    do {
      return VersionLineage.difference(try MigrationPlan(from: old, to: new))
    } catch {
      return ["can't be compared: \(error)"]
    }
  }

  /// Lines for people; empty if nothing has diverged.
  var text: [String] {
    pairs.flatMap { pair in
      var lines = ["'\(pair.first)' and '\(pair.second)' both grew from '\(pair.parent)':"]
      for (name, changes) in [(pair.first, pair.firstChanges), (pair.second, pair.secondChanges)] {
        lines += changes.isEmpty ? ["  \(name): no change of the store"] : changes.map { "  \(name): \($0)" }
      }
      lines += (pair.conflicts ?? []).map { "  conflict: \($0.place): \($0.what)" }
      lines.append("  'persist merge-versions' combines them.")
      return lines
    }
  }

  func write(to json: inout JSONText) {
    json.field("heads", strings: names)
    json.field("diverged", of: pairs) { json, pair in
      json.object {
        $0.field("first", pair.first)
        $0.field("second", pair.second)
        $0.field("parent", pair.parent)
        $0.field("firstChanges", strings: pair.firstChanges)
        $0.field("secondChanges", strings: pair.secondChanges)
        $0.field("conflicts", of: pair.conflicts ?? []) { json, conflict in
          json.object {
            $0.field("place", conflict.place)
            $0.field("what", conflict.what)
          }
        }
      }
    }
  }
}
