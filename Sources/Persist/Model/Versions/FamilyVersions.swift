/// The versions of a family, each read on demand, and their order.
final class FamilyVersions: Sendable {
  /// The result of reading every version.
  struct Contents: Sendable {
    /// The readable versions, from the oldest to the newest as far as is known.
    var versions: [ModelVersion] = []
    var order: VersionOrder
    /// The reasons why the others can't be read, in name order.
    var problems: [PersistenceError] = []
  }

  /// In name order, or in the given order.
  let files: [VersionFile]
  private let family: String
  private let isOrdered: Bool
  /// The number of versions at the end of `files` that were added later and are newer than all others.
  private let newestCount: Int
  /// The source and destination versions of mapping models, by name.
  private let steps: [(from: String, to: String)]
  private let contents = LockProtected<Contents?>(nil)

  /// - Parameter isOrdered: whether the versions are already in order; otherwise the order is determined.
  convenience init(_ files: [VersionFile], family: String, isOrdered: Bool, steps: [(from: String, to: String)] = []) {
    self.init(
      inOrder: isOrdered ? files : files.ordered { Self.precedes($0.name, $1.name, in: family) }, family: family,
      isOrdered: isOrdered, steps: steps, newestCount: 0)
  }

  private init(
    inOrder files: [VersionFile], family: String, isOrdered: Bool, steps: [(from: String, to: String)], newestCount: Int
  ) {
    self.files = files
    self.family = family
    self.isOrdered = isOrdered
    self.steps = steps
    self.newestCount = newestCount
  }

  /// Returns the versions with one added that is newer than all others; a version with the same name is replaced in
  /// place.
  ///
  /// Reads nothing: unreadable versions remain, and so does the evidence for the order of the others.
  func adding(_ version: ModelVersion) -> FamilyVersions {
    var files = files
    var newestCount = newestCount
    if let index = files.firstIndex(where: { $0.name == version.name }) {
      files[index] = VersionFile(version)
    } else {
      files.append(VersionFile(version))
      newestCount += 1
    }
    return FamilyVersions(
      inOrder: files, family: family, isOrdered: isOrdered, steps: steps, newestCount: newestCount)
  }

  /// All readable versions.
  ///
  /// - Complexity: the first call reads all files.
  var all: Contents {
    contents.withLock { known in
      if let known { return known }
      let new = read()
      known = new
      return new
    }
  }

  /// Returns the version with this model instance, which has therefore been read already.
  func version(with model: ManagedObjectModel) -> ModelVersion? {
    files.lazy.compactMap(\.loaded).first { $0.model === model }
  }

  /// Returns the current version's file: the one with the given name, otherwise the newest, readable or not.
  func currentFile(named name: String?) -> VersionFile? {
    if let name, let file = files.first(where: { $0.name == name }) { return file }
    guard files.count > 1, !isOrdered else { return files.last }
    let all = all
    guard all.order.evidence == .names else { return files.first { $0.name == all.versions.last?.name } }
    return files.last { $0.name != family }
  }

  private func read() -> Contents {
    var versions: [ModelVersion] = []
    var problems: [PersistenceError] = []
    for file in files {
      do throws(PersistenceError) {
        versions.append(try file.version())
      } catch {
        problems.append(error)
      }
    }
    guard !isOrdered else {
      return Contents(versions: versions, order: VersionOrder(given: versions.count), problems: problems)
    }
    // The files of added versions exist already.
    let newest = versions.suffix(newestCount)
    versions.removeLast(newestCount)
    let identified = VersionOrder(
      names: versions.map(\.name), identifiers: versions.map(\.model.versionIdentifiers), family: family)
    if identified.evidence == .identifiers {
      let order = versions.indices.ordered { identified.precedes($0, $1) == true }
      versions = order.map { versions[$0] }
    }
    versions = Self.sorted(versions, by: steps)
    let places = Dictionary(versions.indices.map { (versions[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    let order = VersionOrder(
      names: versions.map(\.name), identifiers: versions.map(\.model.versionIdentifiers), family: family,
      steps: steps.compactMap { step in
        guard let from = places[step.from], let to = places[step.to], from != to else { return nil }
        return (from, to)
      })
    return Contents(versions: versions + newest, order: order.adding(newest: newestCount), problems: problems)
  }

  /// Whether a file comes before another: the version named like the family is the first, as created by Xcode; the
  /// others follow in numbered order.
  private static func precedes(_ left: String, _ right: String, in family: String) -> Bool {
    (left == family) != (right == family) ? left == family : NaturalOrder.precedes(left, right)
  }

  /// Sorts each version after the source versions of mapping models that lead to it.
  private static func sorted(_ versions: [ModelVersion], by steps: [(from: String, to: String)]) -> [ModelVersion] {
    let indexes = Dictionary(versions.indices.map { (versions[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    var sources: [Int: [Int]] = Dictionary()
    for step in steps {
      guard let source = indexes[step.from], let destination = indexes[step.to], source != destination else { continue }
      sources[destination, default: []].append(source)
    }
    // Depth first with an explicit stack. Cyclic steps don't determine an order.
    var order: [Int] = []
    var seen: Set<Int> = []
    for start in versions.indices where seen.insert(start).inserted {
      var path = [start]
      while let index = path.last {
        if let source = sources[index]?.popLast() {
          if seen.insert(source).inserted { path.append(source) }
        } else {
          order.append(index)
          path.removeLast()
        }
      }
    }
    return order.map { versions[$0] }
  }
}
